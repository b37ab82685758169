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

// hogPage is a page of a list of messages of MailHog. As in MailHog, Items have their whole content, so the size of a page
// is bounded by hogPageOctets.
type hogPage struct {
	Total int          `json:"total"`
	Count int          `json:"count"`
	Start int          `json:"start"`
	Items []hogMessage `json:"items"`
}

// hogMessage is a message in the format of MailHog, with its content as it was sent.
type hogMessage struct {
	ID      id.SinkMail
	From    hogPath
	To      []hogPath
	Content hogContent
	Created time.Time
	MIME    *hogMIME
	Raw     hogRaw
}

// hogPath is an address, split at its last @. Relays and Params are always empty.
type hogPath struct {
	Relays                  []string
	Mailbox, Domain, Params string
}

// hogContent has the header fields and the body of a message or of a part. The body is not decoded. Size is in octets.
type hogContent struct {
	Headers map[string][]string
	Body    string
	Size    int
	MIME    *hogMIME
}

// hogMIME has the parts of a multipart entity.
type hogMIME struct{ Parts []hogContent }

// hogRaw has the envelope and the raw data of a message.
type hogRaw struct {
	From string
	To   []string
	Data string
	Helo string
}

// hogList responds with a page of all messages.
func (a *API) hogList(w http.ResponseWriter, r *http.Request) { a.respondHogPage(w, r, nil) }

// hogSearch responds with a page of the messages in which the field that the parameter kind names contains query.
func (a *API) hogSearch(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	q, known := sink.FieldQuery(v.Get("kind"), v.Get("query"))
	if !known {
		writeError(w, http.StatusBadRequest, "kind must be from, to or containing")
		return
	}
	a.respondHogPage(w, r, &q)
}

const (
	// hogPageOctets bounds the octets of the raw messages on a page. A page ends before the message that would exceed it.
	hogPageOctets = 16 << 20

	// hogMemoryFactor is how many octets of memory a response takes for each octet of its raw messages, as an upper bound.
	hogMemoryFactor = 6
)

// respondHogPage responds with a page of the messages that q matches, or of all messages if q is nil, newest first. The sizes
// of the messages are known before their contents are read, so that the memory is reserved first. If hogPageOctets makes
// the page shorter than the limit, clients continue at Start + Count.
func (a *API) respondHogPage(w http.ResponseWriter, r *http.Request, q *sink.Query) {
	start, limit, err := parsePaging(r.URL.Query())
	var p sink.Page
	if err == nil {
		p, err = a.Mails.Search(r.Context(), q, start, limit)
	}
	var size int64
	for i := range p.Mails {
		if size+p.Mails[i].Size > hogPageOctets && i > 0 {
			p.Mails = p.Mails[:i]
			break
		}
		size += p.Mails[i].Size
	}
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, hogMemoryFactor*size+int64(len(p.Mails)+1)*pageOctets)
	}
	items := []hogMessage{}
	for i := range p.Mails {
		var m *hogMessage
		if err == nil {
			m, err = a.loadHogMessage(r.Context(), &p.Mails[i])
		}
		if problem.Has(err, problem.MessageNotFound) { // deleted since the search
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

// hogMessage responds with a message.
func (a *API) hogMessage(w http.ResponseWriter, r *http.Request) {
	m, err := a.Mails.Get(r.Context(), r.PathValue("id"))
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, hogMemoryFactor*m.Size+pageOctets)
	}
	var message *hogMessage
	if err == nil {
		message, err = a.loadHogMessage(r.Context(), m)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, message)
}

// hogDelete deletes a message. The response has an empty body, since clients parse any other body as JSON.
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

// loadHogMessage reads a message with its raw data, which is empty after the retention. The caller has reserved the memory.
// Error: message.not_found.
func (a *API) loadHogMessage(ctx context.Context, m *sink.Mail) (*hogMessage, error) {
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
		var chunk []byte
		if chunk, err = content.Next(ctx); err == nil {
			data.Write(chunk)
		}
	}
	if !errors.Is(err, io.EOF) && !problem.Has(err, problem.MessageRawExpired) {
		return nil, err
	}
	loaded := &hogMessage{
		ID: m.ID, From: newHogPath(m.Sender), To: []hogPath{}, Created: m.ReceivedAt.UTC(),
		Raw: hogRaw{From: m.Sender, To: append([]string{}, m.Recipients...), Data: data.String(), Helo: full.Envelope.Helo},
	}
	for _, r := range m.Recipients {
		loaded.To = append(loaded.To, newHogPath(r))
	}
	remaining := partsMax
	loaded.Content = parsePart(data.Bytes(), 0, &remaining)
	loaded.MIME, loaded.Content.MIME = loaded.Content.MIME, nil
	return loaded, nil
}

// newHogPath splits an address. The mailbox and the domain of the null reverse-path are empty.
func newHogPath(address string) hogPath {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return hogPath{Mailbox: address}
	}
	return hogPath{Mailbox: address[:at], Domain: address[at+1:]}
}

// Bounds of the MIME tree of a message.
const (
	// The parts of ordinary mails nest a few levels deep. A small hostile mail could nest thousands of levels, each of which
	// copies the levels inside it.
	depthMax = 10
	partsMax = 1000 // in all levels together
)

// parsePart parses a message or a part of one. depth is its nesting level, 0 for a message. remaining is how many more parts
// the message may have; parsePart decreases it. If the header cannot be parsed, the whole data is the body.
func parsePart(data []byte, depth int, remaining *int) hogContent {
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
		c.MIME = parseParts(textproto.MIMEHeader(c.Headers), body, depth, remaining)
	}
	return c
}

// parseParts returns the parts of a multipart entity, or nil if it is not a multipart. It stops at the first part that cannot
// be read and returns those before it.
func parseParts(header textproto.MIMEHeader, body []byte, depth int, remaining *int) *hogMIME {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(media, "multipart/") || params["boundary"] == "" {
		return nil
	}
	all := &hogMIME{Parts: []hogContent{}}
	for reader := multipart.NewReader(bytes.NewReader(body), params["boundary"]); *remaining > 0; {
		p, err := reader.NextRawPart()
		if err != nil {
			break
		}
		*remaining--
		content, err := io.ReadAll(p)
		part := hogContent{Headers: p.Header, Body: string(content), Size: len(content)}
		if depth+1 < depthMax {
			part.MIME = parseParts(p.Header, content, depth+1, remaining)
		}
		all.Parts = append(all.Parts, part)
		if err != nil {
			break
		}
	}
	return all
}
