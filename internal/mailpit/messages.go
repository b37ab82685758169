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

// frame is the body of an answer with a list of messages: the list, and the counts.
type frame struct {
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

// address is a sender or recipient as Mailpit shows it.
type address struct{ Name, Address string }

// addresses returns addresses in the form of Mailpit, an empty list for none.
func addresses(all []message.Address) []address {
	out := make([]address, len(all))
	for i, a := range all {
		out[i] = address(a)
	}
	return out
}

// summaryOf returns a mail in the form of Mailpit.
func summaryOf(m *sink.Mail) summary {
	return summary{
		ID: m.ID, MessageID: m.MessageID, Read: m.Seen, From: address(m.From), To: addresses(m.To), Cc: addresses(m.CC), Bcc: addresses(m.BCC),
		ReplyTo: addresses(m.ReplyTo), Subject: m.Subject, Created: m.ReceivedAt.UTC(), Tags: []string{}, Size: m.Size, Attachments: m.Attachments,
		Snippet: m.Snippet,
	}
}

func (a *API) list(w http.ResponseWriter, r *http.Request) { a.page(w, r, nil) }

// search answers with a page of the messages that the parameter query matches.
func (a *API) search(w http.ResponseWriter, r *http.Request) {
	q, err := queryOf(r.URL.Query())
	if err != nil {
		a.failed(w, r, err)
		return
	}
	a.page(w, r, &q)
}

// queryOf parses the parameters query and tz. Error: request.invalid.
func queryOf(v url.Values) (sink.Query, error) {
	in := time.UTC
	if tz := v.Get("tz"); tz != "" {
		var err error
		if in, err = time.LoadLocation(tz); err != nil {
			return sink.Query{}, problem.Invalid("?tz", "is not a time zone such as Europe/Berlin")
		}
	}
	return sink.ParseQuery(v.Get("query"), in)
}

// pageOctets is how many octets of memory a page takes for each of its messages.
const pageOctets = 16 << 10

// page answers with a page of messages, newest first; a nil q matches all. Memory is reserved before they are read.
func (a *API) page(w http.ResponseWriter, r *http.Request, q *sink.Query) {
	start, limit, err := window(r.URL.Query())
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, int64(limit+1)*pageOctets)
	}
	var p sink.Page
	if err == nil {
		p, err = a.Mails.Search(r.Context(), q, start, limit)
	}
	if err != nil {
		a.failed(w, r, err)
		return
	}
	f := frame{
		Total: p.Total, Unread: p.Unread, Count: len(p.Mails), MessagesCount: p.Matches, MessagesUnread: p.UnreadMatching, Start: start, Tags: []string{},
		Messages: make([]summary, len(p.Mails)),
	}
	for i := range p.Mails {
		f.Messages[i] = summaryOf(&p.Mails[i])
	}
	answer(w, f)
}

// selection is the body of a call that changes several messages: it says which. Without IDs and Search it is all
// messages, as in Mailpit.
type selection struct {
	IDs    []string
	Read   bool
	Search string
}

// bodyMax bounds the body of calls that change several messages, in octets: some 100,000 identifiers.
const bodyMax = 4 << 20

// selectionOf reads a selection and returns what it selects: the messages with its identifiers, those that its search
// matches, or all. Errors: request.invalid, server.unavailable.
func (a *API) selectionOf(r *http.Request) (s selection, ids []id.SinkMail, err error) {
	if err := a.kit.Reserve(r.Context(), budget.Request, min(max(r.ContentLength, 1<<10), bodyMax)*4); err != nil {
		return s, nil, err
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, r.Body, bodyMax)).Decode(&s)
	if err != nil && !errors.Is(err, io.EOF) { // EOF: there is no body
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

// mark marks messages as read or unread.
func (a *API) mark(w http.ResponseWriter, r *http.Request) {
	patient(w)
	s, ids, err := a.selectionOf(r)
	if err == nil {
		err = a.Mails.SetSeen(r.Context(), ids, s.Read)
	}
	a.done(w, r, err)
}

// changeTimeout is how long a call may take that changes many messages. The server's own limit for
// writing an answer is too short for deleting 100,000.
const changeTimeout = 5 * time.Minute

// patient extends the write deadline of a call that changes many messages to changeTimeout.
func patient(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(clock.System().Now().Add(changeTimeout))
}

// remove deletes messages.
func (a *API) remove(w http.ResponseWriter, r *http.Request) {
	patient(w)
	_, ids, err := a.selectionOf(r)
	if err == nil {
		err = a.Mails.Delete(r.Context(), ids)
	}
	a.done(w, r, err)
}

// removeMatching deletes the messages that the parameter query matches.
func (a *API) removeMatching(w http.ResponseWriter, r *http.Request) {
	patient(w)
	q, err := queryOf(r.URL.Query())
	var ids []id.SinkMail
	if err == nil {
		ids, err = a.Mails.Matching(r.Context(), &q)
	}
	if err == nil {
		err = a.Mails.Delete(r.Context(), ids)
	}
	a.done(w, r, err)
}

// done answers a call without a result: with "ok", or with the error.
func (a *API) done(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		a.failed(w, r, err)
		return
	}
	ok(w)
}
