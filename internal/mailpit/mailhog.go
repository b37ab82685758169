package mailpit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/search"
	"github.com/gonebox/gonebox/internal/sink"
)

// hogMessage is a message in the format of MailHog, with its content as it was sent. Its MIME tree is that of its content.
type hogMessage struct {
	ID      id.SinkMail
	From    hogPath
	To      []hogPath
	Content hogContent
	Created time.Time
	Raw     hogRaw
}

// hogPath is an address, split at its last @. Relays and Params are always empty.
type hogPath struct {
	Relays                  []string
	Mailbox, Domain, Params string
}

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
	q, known := search.FieldQuery(v.Get("kind"), v.Get("query"))
	if !known {
		writeError(w, http.StatusBadRequest, "kind must be from, to or containing")
		return
	}
	a.respondHogPage(w, r, &q)
}

const (
	// hogPageOctets bounds the octets of the raw messages on a page. A page ends before the message that would exceed it.
	hogPageOctets = 16 << 20

	// hogMemoryFactor is how many octets of memory a message takes for each of its own, as an upper bound: the raw message,
	// and its texts while the envelope is read. The JSON is written piece by piece.
	hogMemoryFactor = 5
)

// respondHogPage responds with a page of the messages that q matches, or of all messages if q is nil, newest first. It reads
// and writes one message after the other, so it reserves the memory for the largest. If hogPageOctets makes the page shorter
// than the limit, clients continue at start + count. After an error the connection is closed, since the response has begun.
func (a *API) respondHogPage(w http.ResponseWriter, r *http.Request, q *search.Query) {
	start, limit, err := parsePaging(r.URL.Query())
	if limit == 0 { // as in MailHog
		limit = defaultLimit
	}
	var p sink.Page
	var found []sink.Found
	if err == nil {
		p, found, err = a.Mails.Find(r.Context(), q, start, limit)
	}
	var size, largest int64
	for i, f := range found {
		if size+f.Size > hogPageOctets && i > 0 {
			found = found[:i]
			break
		}
		size, largest = size+f.Size, max(largest, f.Size)
	}
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, hogMemoryFactor*largest+int64(len(found)+1)*pageOctets+portionOctets)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, httpkit.ChunkSize)
	e := newHogWriter(out)
	e.raw(fmt.Sprintf(`{"total":%d,"start":%d,"items":[`, p.Matches, start))
	count := 0
	var failed error
	err = a.Mails.Each(r.Context(), found, func(mail *sink.Mail) bool {
		m, err := a.loadHogMessage(r.Context(), mail)
		if problem.Has(err, problem.MessageNotFound) { // deleted since the search
			return true
		}
		if failed = errors.Join(err, e.err); failed != nil {
			return false
		}
		if count++; count > 1 {
			e.raw(",")
		}
		e.message(m)
		return true
	})
	if err != nil || failed != nil {
		panic(http.ErrAbortHandler) // closes the connection, so that the client notices that messages are missing
	}
	e.raw(fmt.Sprintf(`],"count":%d}`+"\n", count))
	_ = out.Flush() // fails only if the client has disconnected
}

// hogMessage responds with a message.
func (a *API) hogMessage(w http.ResponseWriter, r *http.Request) {
	m, err := a.Mails.Get(r.Context(), r.PathValue("id"))
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, hogMemoryFactor*m.Size+portionOctets)
	}
	var message *hogMessage
	if err == nil {
		message, err = a.loadHogMessage(r.Context(), m)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, httpkit.ChunkSize)
	newHogWriter(out).message(message)
	_ = out.WriteByte('\n')
	_ = out.Flush() // fails only if the client has disconnected
}

// hogDownload responds with the raw message as a file.
func (a *API) hogDownload(w http.ResponseWriter, r *http.Request) {
	a.respondRaw(w, r, "message/rfc822", true)
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
	full, err := a.Messages.Original(ctx, ref.Box, ref.Message, nil)
	if err != nil {
		return nil, err
	}
	var data strings.Builder
	content, err := a.Messages.Raw(ctx, ref.Box, ref.Message)
	if err == nil {
		data.Grow(int(max(content.Size(), 0))) // it is not known of a short one
	}
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
	loaded.Content = parseHog(loaded.Raw.Data)
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
