package mailpit

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// messageList is a page of a list of messages, with the counts. Tags is always empty.
type messageList struct {
	Total          int       `json:"total"`
	Unread         int       `json:"unread"`
	Count          int       `json:"count"`
	MessagesCount  int       `json:"messages_count"`
	MessagesUnread int       `json:"messages_unread"`
	Start          int       `json:"start"`
	Tags           []string  `json:"tags"`
	Messages       []summary `json:"messages"`
}

// summary is a message in a list. The names of the fields are those of the JSON. Username and Tags are always empty.
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

// summaryOf converts a mail into the format of Mailpit.
func summaryOf(m *sink.Mail) summary {
	return summary{
		ID: m.ID, MessageID: m.MessageID, Read: m.Seen, From: address(m.From), To: addresses(m.To), Cc: addresses(m.CC), Bcc: addresses(m.BCC),
		ReplyTo: addresses(m.ReplyTo), Subject: m.Subject, Created: m.ReceivedAt.UTC(), Tags: []string{}, Size: m.Size, Attachments: m.Attachments,
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

// parseQuery parses the parameters query and tz, which is the time zone of the times in query. Error: request.invalid.
func parseQuery(v url.Values) (sink.Query, error) {
	zone := time.UTC
	if tz := v.Get("tz"); tz != "" {
		var err error
		if zone, err = time.LoadLocation(tz); err != nil {
			return sink.Query{}, problem.Invalid("?tz", "is not a time zone such as Europe/Berlin")
		}
	}
	return sink.ParseQuery(v.Get("query"), zone)
}

// pageOctets is how many octets of memory a page of a list takes for each of its messages, as an upper bound.
const pageOctets = 16 << 10

// respondPage responds with a page of the messages that q matches, or of all messages if q is nil, newest first. It reserves
// the memory before it reads them.
func (a *API) respondPage(w http.ResponseWriter, r *http.Request, q *sink.Query) {
	start, limit, err := parsePaging(r.URL.Query())
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, int64(limit+1)*pageOctets)
	}
	var p sink.Page
	if err == nil {
		p, err = a.Mails.Search(r.Context(), q, start, limit)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	list := messageList{
		Total: p.Total, Unread: p.Unread, Count: len(p.Mails), MessagesCount: p.Matches, MessagesUnread: p.UnreadMatching, Start: start, Tags: []string{},
		Messages: make([]summary, len(p.Mails)),
	}
	for i := range p.Mails {
		list.Messages[i] = summaryOf(&p.Mails[i])
	}
	writeJSON(w, list)
}

// selection is the body of a call that changes several messages. It selects the messages with the identifiers IDs or, if
// there are none, those that Search matches. If that is "" too, it selects all messages, as in Mailpit. Read is the new
// state of the messages in a call that marks them.
type selection struct {
	IDs    []string
	Read   bool
	Search string
}

// bodyMax bounds the body of a call that changes several messages, in octets. It is enough for some 100,000 identifiers.
const bodyMax = 4 << 20

// readSelection reads the body of a call that changes several messages, and returns it with the identifiers of the selected
// messages. Errors: request.invalid, server.unavailable.
func (a *API) readSelection(r *http.Request) (s selection, ids []id.SinkMail, err error) {
	if err := a.kit.Reserve(r.Context(), budget.Request, min(max(r.ContentLength, 1<<10), bodyMax)*4); err != nil {
		return s, nil, err
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, r.Body, bodyMax)).Decode(&s)
	if err != nil && !errors.Is(err, io.EOF) { // EOF means that there is no body
		return s, nil, problem.Invalid("/body", "is not the JSON that the operation takes")
	}
	switch {
	case len(s.IDs) > 0:
		return s, parseIDs(s.IDs), nil
	case s.Search != "":
		q, err := sink.ParseQuery(s.Search, time.UTC)
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

// remove deletes the selected messages.
func (a *API) remove(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	_, ids, err := a.readSelection(r)
	if err == nil {
		err = a.Mails.Delete(r.Context(), ids)
	}
	a.respondOKOrError(w, r, err)
}

// removeMatching deletes the messages that the parameter query matches.
func (a *API) removeMatching(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	q, err := parseQuery(r.URL.Query())
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
