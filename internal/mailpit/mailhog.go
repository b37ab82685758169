package mailpit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/mail"
	"net/textproto"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// hogPage is a list of messages. Items have their whole content, as in MailHog, so a page is bounded by hogOctets.
type hogPage struct {
	Total int          `json:"total"`
	Count int          `json:"count"`
	Start int          `json:"start"`
	Items []hogMessage `json:"items"`
}

// hogMessage is a message of MailHog, with its content as sent.
type hogMessage struct {
	ID      id.SinkMail
	From    hogPath
	To      []hogPath
	Content hogContent
	Created time.Time
	MIME    *hogMIME
	Raw     hogRaw
}

// hogPath is an address, split at its last @.
type hogPath struct {
	Relays                  []string
	Mailbox, Domain, Params string
}

// hogContent is a message or a part: its header fields and its body, not decoded. Size is in octets.
type hogContent struct {
	Headers map[string][]string
	Body    string
	Size    int
	MIME    *hogMIME
}

// hogMIME has the parts of a multipart.
type hogMIME struct{ Parts []hogContent }

// hogRaw is a message as it was received: its envelope and its data.
type hogRaw struct {
	From string
	To   []string
	Data string
	Helo string
}

func (a *API) hogList(w http.ResponseWriter, r *http.Request) { a.hogPage(w, r, nil) }

// hogSearch answers with the messages that one field matches.
func (a *API) hogSearch(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	q, known := sink.FieldQuery(v.Get("kind"), v.Get("query"))
	if !known {
		writeError(w, http.StatusBadRequest, "kind must be from, to or containing")
		return
	}
	a.hogPage(w, r, &q)
}

// hogOctets bounds the octets of raw messages in a page, which ends before the message that would exceed it. hogFactor is how many
// octets of memory an answer takes for each of them.
const (
	hogOctets = 16 << 20
	hogFactor = 6
)

// hogPage answers with a page of messages, newest first; a nil q matches all. The size is known before the contents are
// read, so the memory is reserved first. A page that is cut has a Count below the limit, and clients continue at Start
// + Count.
func (a *API) hogPage(w http.ResponseWriter, r *http.Request, q *sink.Query) {
	start, limit, err := parsePaging(r.URL.Query())
	var p sink.Page
	if err == nil {
		p, err = a.Mails.Search(r.Context(), q, start, limit)
	}
	var size int64
	for i := range p.Mails {
		if size+p.Mails[i].Size > hogOctets && i > 0 {
			p.Mails = p.Mails[:i]
			break
		}
		size += p.Mails[i].Size
	}
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, hogFactor*size+int64(len(p.Mails)+1)*pageOctets)
	}
	items := []hogMessage{}
	for i := range p.Mails {
		var m *hogMessage
		if err == nil {
			m, err = a.hogOf(r.Context(), &p.Mails[i])
		}
		if problem.Has(err, problem.MessageNotFound) { // deleted meanwhile
			err = nil
			continue
		}
		if err == nil {
			items = append(items, *m)
		}
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, hogPage{Total: p.Matches, Count: len(items), Start: start, Items: items})
}

// hogMessage answers with a message.
func (a *API) hogMessage(w http.ResponseWriter, r *http.Request) {
	m, err := a.Mails.Get(r.Context(), r.PathValue("id"))
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, hogFactor*m.Size+pageOctets)
	}
	var shown *hogMessage
	if err == nil {
		shown, err = a.hogOf(r.Context(), m)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, shown)
}

// hogDelete answers with an empty body, since clients parse any other as JSON.
func (a *API) hogDelete(w http.ResponseWriter, r *http.Request) {
	m, err := a.Mails.Get(r.Context(), r.PathValue("id"))
	if err == nil {
		err = a.Mails.Delete(r.Context(), []id.SinkMail{m.ID})
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// hogOf returns a message with its raw content, which is empty if its retention is over.
func (a *API) hogOf(ctx context.Context, m *sink.Mail) (*hogMessage, error) {
	ref, err := a.Mails.Content(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	full, err := a.Messages.Original(ctx, ref.Box, ref.Message)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	content, err := a.Messages.Raw(ctx, ref.Box, ref.Message)
	for err == nil {
		var octets []byte
		if octets, err = content.Next(ctx); err == nil {
			data.Write(octets)
		}
	}
	if !errors.Is(err, io.EOF) && !problem.Has(err, problem.MessageRawExpired) {
		return nil, err
	}
	shown := &hogMessage{
		ID: m.ID, From: pathOf(m.Sender), To: []hogPath{}, Created: m.ReceivedAt.UTC(),
		Raw: hogRaw{From: m.Sender, To: append([]string{}, m.Recipients...), Data: data.String(), Helo: full.Envelope.Helo},
	}
	for _, r := range m.Recipients {
		shown.To = append(shown.To, pathOf(r))
	}
	budget := partsMax
	shown.Content = parsePart(data.Bytes(), 0, &budget)
	shown.MIME, shown.Content.MIME = shown.Content.MIME, nil
	return shown, nil
}

// pathOf splits an address; the null reverse-path has an empty mailbox and domain.
func pathOf(address string) hogPath {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return hogPath{Mailbox: address}
	}
	return hogPath{Mailbox: address[:at], Domain: address[at+1:]}
}

// Bounds of the MIME tree that is shown.
const (
	// Mails nest a few levels; without the bound a small mail could nest thousands, each of which copies the rest.
	depthMax = 10
	partsMax = 1000
)

// parsePart returns a message, or a part of one, with its body as sent. left is the number of parts that may still be
// shown, which it decreases. A header that cannot be parsed leaves the whole data as the body.
func parsePart(data []byte, depth int, left *int) hogContent {
	c := hogContent{Headers: map[string][]string{}, Size: len(data)}
	body := data
	if m, err := mail.ReadMessage(bytes.NewReader(data)); err == nil {
		c.Headers = m.Header
		if _, rest, found := bytes.Cut(data, []byte("\r\n\r\n")); found {
			body = rest
		}
	}
	c.Body = string(body)
	if depth < depthMax {
		c.MIME = parseParts(textproto.MIMEHeader(c.Headers), body, depth, left)
	}
	return c
}

// parseParts returns the parts of a multipart, or nil. It ends at the first part that cannot be read, with the parts
// before it.
func parseParts(header textproto.MIMEHeader, body []byte, depth int, left *int) *hogMIME {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(media, "multipart/") || params["boundary"] == "" {
		return nil
	}
	all := &hogMIME{Parts: []hogContent{}}
	for reader := multipart.NewReader(bytes.NewReader(body), params["boundary"]); *left > 0; {
		p, err := reader.NextRawPart()
		if err != nil {
			break
		}
		*left--
		content, err := io.ReadAll(p)
		part := hogContent{Headers: p.Header, Body: string(content), Size: len(content)}
		if depth+1 < depthMax {
			part.MIME = parseParts(p.Header, content, depth+1, left)
		}
		all.Parts = append(all.Parts, part)
		if err != nil {
			break
		}
	}
	return all
}
