package mailpit

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/search"
	"github.com/gonebox/gonebox/internal/sink"
)

// messageList is a page of a list of messages, with the counts, without its last members: messages, and count, which is their
// number. Tags are those of all messages.
type messageList struct {
	Total          int      `json:"total"`
	Unread         int      `json:"unread"`
	MessagesCount  int      `json:"messages_count"`
	MessagesUnread int      `json:"messages_unread"`
	Start          int      `json:"start"`
	Tags           []string `json:"tags"`
}

// summary is a message in a list. The names of the fields are those of the JSON.
type summary struct {
	ID          id.SinkMail
	MessageID   string
	Read        bool
	From        address
	To          []address
	Cc          []address
	Bcc         []address
	ReplyTo     []address
	Subject     string
	Created     time.Time
	Username    string
	Tags        []string
	Size        int64
	Attachments int
	Snippet     string
}

// address is a sender or recipient in the format of Mailpit.
type address struct{ Name, Address string }

// addresses converts addresses into the format of Mailpit. It returns an empty list, not nil, for none, so that JSON has [].
func addresses(all []message.Address) []address {
	list := make([]address, len(all))
	for i, a := range all {
		list[i] = address(a)
	}
	return list
}

// list returns an empty list, not nil, for none, so that JSON has [].
func list(tags []string) []string { return append([]string{}, tags...) }

// summaryOf converts a mail into the format of Mailpit.
func summaryOf(m *sink.Mail) summary {
	return summary{
		ID: m.ID, MessageID: m.MessageID, Read: m.Seen, From: address(m.From), To: addresses(m.To), Cc: addresses(m.CC), Bcc: addresses(m.BCC),
		ReplyTo: addresses(m.ReplyTo), Subject: m.Subject, Created: m.ReceivedAt.UTC(), Username: m.Username, Tags: list(m.Tags), Size: m.Size, Attachments: m.Attachments,
		Snippet: m.Snippet,
	}
}

// list responds with a page of all messages.
func (a *API) list(w http.ResponseWriter, r *http.Request) { a.respondPage(w, r, nil) }

// search responds with a page of the messages that the parameter query matches.
func (a *API) search(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	a.respondPage(w, r, &q)
}

// parseQuery parses the parameters query and tz. Error: request.invalid.
func parseQuery(v url.Values) (search.Query, error) { return parseInZone(v, search.Parse) }

// parseInZone is parseQuery with a function that parses the query.
func parseInZone(v url.Values, parse func(pointer, text string, loc *time.Location) (search.Query, error)) (search.Query, error) {
	zone, err := parseZone(v)
	if err != nil {
		return search.Query{}, err
	}
	return parse("?query", v.Get("query"), zone)
}

// parseBefore parses the parameter before, a time or a number of seconds or milliseconds since 1970, and returns it in microseconds;
// ok is false without it. Error: request.invalid.
func parseBefore(v url.Values) (at int64, ok bool, err error) {
	const secondsMax = 1e11 // a larger number is of milliseconds
	text := v.Get("before")
	if text == "" {
		return 0, false, nil
	}
	if n, err := strconv.ParseUint(text, 10, 43); err == nil {
		if n < secondsMax {
			n *= 1000
		}
		return int64(n) * 1000, true, nil
	}
	zone, err := parseZone(v)
	if err != nil {
		return 0, false, err
	}
	if at, err = search.ParseTime(text, zone); err != nil {
		return 0, false, problem.Invalid("?before", "%v", err)
	}
	return at, true, nil
}

// pageOctets is how many octets of memory a message of a page takes before it is read, and a page beside its messages.
const pageOctets = 256

// portionOctets is how many octets of memory the messages of a page take that are read at once, as their stored form, as
// values and as JSON, as an upper bound for nearly all.
const portionOctets = 1 << 20

// respondPage responds with a page of the messages that q matches, or of all messages if q is nil, newest first. It reserves
// the memory for a portion of them, and reads and writes one portion after the other. After an error the connection is
// closed, since the response has begun.
func (a *API) respondPage(w http.ResponseWriter, r *http.Request, q *search.Query) {
	page, found, err := a.findPage(r, q)
	var frame []byte
	if err == nil {
		frame, err = json.Marshal(page)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, pageBuffer)
	_, _ = out.Write(frame[:len(frame)-1]) // its end is written below; Flush returns the error, as of the other calls
	_, _ = out.WriteString(`,"messages":[`)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false) // as in writeJSON
	count := 0
	err = a.Mails.Each(r.Context(), found, func(m *sink.Mail) bool {
		if count++; count > 1 {
			_ = out.WriteByte(',')
		}
		if count%sink.PageMax == 0 { // a list of all messages may take longer than a page, as long as the client reads it
			_ = http.NewResponseController(w).SetWriteDeadline(clock.System().Now().Add(a.HTTP.WriteTimeout))
		}
		return e.Encode(summaryOf(m)) == nil
	})
	if err != nil {
		panic(http.ErrAbortHandler) // so that the client notices that messages are missing
	}
	_, _ = out.WriteString(`],"count":` + strconv.Itoa(count) + "}\n")
	_ = out.Flush()
}

// findPage returns the messages of a page, and the page without them. In a list of all messages, limit=0 asks for all of them. Errors:
// request.invalid, server.unavailable.
func (a *API) findPage(r *http.Request, q *search.Query) (page messageList, found []sink.Found, err error) {
	v := r.URL.Query()
	start, limit, err := parsePaging(v)
	if err != nil {
		return page, nil, err
	}
	before, bounded, err := parseBefore(v)
	if err != nil {
		return page, nil, err
	}
	listed := q == nil
	octets := min(int64(limit+1)*(pageOctets+summaryOctets), int64(limit+1)*pageOctets+portionOctets)
	if listed && limit == 0 {
		all, err := a.Mails.Search(r.Context(), nil, 0, 0)
		if err != nil {
			return page, nil, err
		}
		start, limit, octets = 0, sink.All, int64(all.Total+1)*foundOctets+portionOctets
	}
	if err := a.kit.Reserve(r.Context(), budget.Response, octets); err != nil {
		return page, nil, err
	}
	if bounded {
		var older search.Query
		if q != nil {
			older = *q
		}
		older = older.Before(before)
		q = &older
	}
	p, found, err := a.Mails.Find(r.Context(), q, start, limit)
	if err != nil {
		return page, nil, err
	}
	if listed {
		p.Matches, p.UnreadMatching = p.Total, p.Unread
	}
	tags, err := a.Mails.TagNames(r.Context())
	return messageList{
		Total: p.Total, Unread: p.Unread, MessagesCount: p.Matches, MessagesUnread: p.UnreadMatching, Start: start, Tags: tags,
	}, found, err
}

const (
	foundOctets   = 64       // octets of memory for a message of a list of all, twice what it takes while the list grows
	summaryOctets = 16 << 10 // octets of memory for a message of a short page
	pageBuffer    = 16 << 10 // octets that are written to the client at once
)

// selection is the body of a call that changes several messages. It selects the messages with the identifiers IDs or, if
// there are none, those that Search matches. If that is "" too, it selects all messages, as in Mailpit. Read is the new
// state of the messages in a call that marks them.
type selection struct {
	IDs    []string
	Read   bool
	Search string
}

// Bounds of the body of a call that changes several messages: some 100,000 identifiers.
const (
	bodyMax     = 4 << 20 // octets
	idTokensMax = 200_000 // names, values and brackets
)

// readSelection reads the body of a call that changes several messages, and returns it with the identifiers of the selected
// messages. Errors: request.invalid, request.too_large, server.unavailable.
func (a *API) readSelection(r *http.Request) (s selection, ids []id.SinkMail, err error) {
	lease, err := a.kit.ReadJSON(r.Context(), r, &s, httpkit.JSONBounds{Octets: bodyMax, Tokens: idTokensMax, Optional: true})
	if err != nil {
		return s, nil, err
	}
	defer lease.Release()
	switch {
	case len(s.IDs) > 0:
		return s, parseIDs(s.IDs), nil
	case s.Search != "":
		q, err := search.ParseSelection("?query", s.Search, time.UTC)
		if err != nil {
			return s, nil, err
		}
		ids, err = a.Mails.Matching(r.Context(), &q)
		return s, ids, err
	}
	ids, err = a.Mails.Matching(r.Context(), nil)
	return s, ids, err
}

// mark marks the selected messages as read or unread.
func (a *API) mark(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	s, ids, err := a.readSelection(r)
	if err == nil {
		err = a.Mails.SetSeen(r.Context(), ids, s.Read)
	}
	a.respondOKOrError(w, r, err)
}

// changeTimeout is how long a call that changes many messages may take. The write timeout of the server is too short to
// delete 100,000 messages.
const changeTimeout = 5 * time.Minute

// extendWriteDeadline gives a call that changes many messages changeTimeout from now until its response is written.
func extendWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(clock.System().Now().Add(changeTimeout))
}

// remove deletes the selected messages. A request without Accept gets an empty response, as from MailHog, whose clients parse
// any body as JSON.
func (a *API) remove(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	_, ids, err := a.readSelection(r)
	if err == nil {
		err = a.Mails.Delete(r.Context(), ids)
	}
	if err == nil && wantsNoText(r) {
		w.WriteHeader(http.StatusOK)
		return
	}
	a.respondOKOrError(w, r, err)
}

// removeMatching deletes the messages that the parameter query matches.
func (a *API) removeMatching(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	q, err := parseInZone(r.URL.Query(), search.ParseSelection)
	var ids []id.SinkMail
	if err == nil {
		ids, err = a.Mails.Matching(r.Context(), &q)
	}
	if err == nil {
		err = a.Mails.Delete(r.Context(), ids)
	}
	a.respondOKOrError(w, r, err)
}

// respondOKOrError responds to a call that has no result: with "ok" if err is nil, or with the error.
func (a *API) respondOKOrError(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeOK(w)
}
