package mailpit

import (
	"bytes"
	"context"
	"crypto/md5"  //nolint:gosec // clients of Mailpit compare the checksums; they protect nothing
	"crypto/sha1" //nolint:gosec // the same
	"encoding/hex"
	"errors"
	"html"
	"io"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sanitize"
	"github.com/gonebox/gonebox/internal/sink"
)

// detail is a message with its content. The names of the fields are those in JSON.
type detail struct {
	ID              id.SinkMail
	MessageID       string
	From            address
	To              []address
	Cc              []address
	Bcc             []address
	ReplyTo         []address
	ReturnPath      string
	Subject         string
	ListUnsubscribe unsubscribe
	Date            time.Time
	Tags            []string
	Username        string
	Text            string
	HTML            string
	Size            int64
	Inline          []attachment
	Attachments     []attachment
}

// unsubscribe has the values of the header fields List-Unsubscribe and List-Unsubscribe-Post. Errors is always empty, since
// the links are not checked.
type unsubscribe struct {
	Header     string
	Links      []string
	Errors     string
	HeaderPost string
}

// attachment describes an attachment. PartID is its position in the tree of parts, as Mailpit numbers them; it is used in paths.
type attachment struct {
	PartID      string
	FileName    string
	ContentType string
	ContentID   string
	Size        int64
	Checksums   struct{ MD5, SHA1, SHA256 string }
}

// The memory to read a message in full, in octets: a constant, and a multiple of its header fields and texts.
const (
	fullOctets = 64 << 10
	textFactor = 16
)

// attachmentOctets is how many octets a download of an attachment takes: the chunk that is sent, and what it is decoded from.
const attachmentOctets = 3 * httpkit.ChunkSize

// reserveReading returns a function that reserves the memory to read a message without its attachments.
func (a *API) reserveReading(ctx context.Context) message.Reserve {
	return func(octets int64) error { return a.kit.Reserve(ctx, budget.Response, fullOctets+textFactor*octets) }
}

// loadMessage reads the message that the path names, with its content. It reserves the memory first. Errors:
// message.not_found, server.unavailable.
func (a *API) loadMessage(r *http.Request) (*sink.Mail, *message.Original, error) {
	m, ref, err := a.findMail(r, r.PathValue("id"))
	if err != nil {
		return nil, nil, err
	}
	full, err := a.Messages.Original(r.Context(), ref.Box, ref.Message, a.reserveReading(r.Context()))
	return m, full, err
}

// message responds with a message and marks it as read.
func (a *API) message(w http.ResponseWriter, r *http.Request) {
	m, full, err := a.loadMessage(r)
	var files []attachment
	if err == nil {
		files, err = describeAttachments(r.Context(), full)
	}
	if err == nil && !m.Seen {
		err = a.Mails.SetSeen(r.Context(), []id.SinkMail{m.ID}, true)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	d := detail{
		ID: m.ID, MessageID: full.MessageID, From: address(full.From), To: addresses(full.To), Cc: addresses(full.CC), Bcc: addresses(m.BCC),
		ReplyTo: addresses(full.ReplyTo), ReturnPath: full.Envelope.From, Subject: full.Subject, ListUnsubscribe: parseUnsubscribe(full.Headers),
		Date: m.ReceivedAt.UTC(), Tags: list(m.Tags), Username: m.Username, Text: textOf(full.Message), Size: full.Size, Inline: []attachment{}, Attachments: []attachment{},
	}
	if len(m.To) == 0 { // full.To has a recipient of the envelope if the header has none; Mailpit does not show it
		d.To = []address{}
	}
	if full.SentAt != nil {
		d.Date = full.SentAt.Time
	}
	if full.HTML != nil {
		d.HTML = *full.HTML
	}
	for i, described := range files {
		if full.Attachments[i].Inline {
			d.Inline = append(d.Inline, described)
		} else {
			d.Attachments = append(d.Attachments, described)
		}
	}
	writeJSON(w, d)
}

// describeAttachments describes the attachments of a message with the checksums of their contents. SHA-256 is stored with
// the message. MD5 and SHA-1 are computed, and are "" if the content was too large to be kept.
func describeAttachments(ctx context.Context, full *message.Original) ([]attachment, error) {
	all := make([]attachment, len(full.Attachments))
	for i, f := range full.Attachments {
		all[i] = attachment{PartID: full.Part(i), FileName: f.Filename, ContentType: f.ContentType, Size: f.Size}
		if f.ContentID != nil {
			all[i].ContentID = *f.ContentID
		}
		all[i].Checksums.SHA256 = f.SHA256
	}
	err := full.EachAttachment(ctx, func(i int, content io.Reader) error {
		md5Hash, sha1Hash := md5.New(), sha1.New() //nolint:gosec // see the imports
		if _, err := io.Copy(io.MultiWriter(md5Hash, sha1Hash), content); err != nil {
			return err
		}
		all[i].Checksums.MD5, all[i].Checksums.SHA1 = hex.EncodeToString(md5Hash.Sum(nil)), hex.EncodeToString(sha1Hash.Sum(nil))
		return nil
	})
	return all, err
}

// unsubscribeLink matches a link of a List-Unsubscribe field, in angle brackets (RFC 2369 §2).
var unsubscribeLink = regexp.MustCompile(`<([^<>\s]+)>`)

// parseUnsubscribe returns the values of the List-Unsubscribe fields and the links in them (RFC 2369, RFC 8058).
func parseUnsubscribe(headers []message.Header) unsubscribe {
	u := unsubscribe{Links: []string{}}
	for _, h := range headers {
		switch {
		case strings.EqualFold(h.Name, "List-Unsubscribe"):
			u.Header = h.Value
		case strings.EqualFold(h.Name, "List-Unsubscribe-Post"):
			u.HeaderPost = h.Value
		}
	}
	for _, link := range unsubscribeLink.FindAllStringSubmatch(u.Header, -1) {
		u.Links = append(u.Links, link[1])
	}
	return u
}

// headers responds with the header fields of a message. The keys are their names.
func (a *API) headers(w http.ResponseWriter, r *http.Request) {
	_, full, err := a.loadMessage(r)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, headerMap(full.Headers))
}

// headerMap returns the values of header fields in their order. The keys are the canonical names of the fields.
func headerMap(all []message.Header) map[string][]string {
	values := make(map[string][]string, len(all))
	for _, h := range all {
		name := textproto.CanonicalMIMEHeaderKey(h.Name)
		values[name] = append(values[name], h.Value)
	}
	return values
}

// raw responds with the raw message, as a file with the parameter dl=1.
func (a *API) raw(w http.ResponseWriter, r *http.Request) {
	a.respondRaw(w, r, "text/plain; charset=utf-8", r.URL.Query().Get("dl") == "1")
}

// respondRaw responds with the raw message. It sends one chunk after the other, so that it needs the same memory for a message of
// any size. Error: message.raw_expired, after the retention.
func (a *API) respondRaw(w http.ResponseWriter, r *http.Request, contentType string, asFile bool) {
	m, ref, err := a.findMail(r, r.PathValue("id"))
	var content *message.Raw
	if err == nil {
		content, err = a.Messages.Raw(r.Context(), ref.Box, ref.Message)
	}
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, content.Memory())
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	responding := false
	for {
		chunk, err := content.Next(r.Context())
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil && !responding:
			a.respondError(w, r, err)
			return
		case err != nil:
			panic(http.ErrAbortHandler) // closes the connection, so that the client notices that octets are missing
		}
		if !responding {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Content-Security-Policy", "default-src 'none'") // no sandbox: Mailpit's page has the text in a frame, which it measures
			if asFile {
				w.Header().Set("Content-Disposition", `attachment; filename="`+string(m.ID)+`.eml"`)
			}
			responding = true
		}
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// findAttachment returns the message that the path names, with its content, and the index of the attachment. Errors:
// message.not_found, attachment.not_found, server.unavailable.
func (a *API) findAttachment(r *http.Request) (full *message.Original, index int, err error) {
	if _, full, err = a.loadMessage(r); err != nil {
		return nil, 0, err
	}
	for i := range full.Attachments {
		if full.Part(i) == r.PathValue("part") {
			return full, i, nil
		}
	}
	return nil, 0, problem.New(problem.AttachmentNotFound)
}

// part responds with the content of an attachment. If its content type is not valid, it is sent as
// application/octet-stream.
func (a *API) part(w http.ResponseWriter, r *http.Request) {
	full, index, err := a.findAttachment(r)
	var f *message.Attachment
	var content io.Reader
	if err == nil {
		f, content, err = full.Open(r.Context(), index)
	}
	if err == nil { // a slow client holds no more than what is sent to it
		held := int64(attachmentOctets)
		if _, whole := content.(*bytes.Reader); whole {
			held += f.Size
		}
		err = a.kit.Keep(r.Context(), held)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	httpkit.WriteAttachment(w, f.ContentType, f.Filename, f.Size, content)
}

// textOf returns the text of a message with its HTML as the sender wrote it. In the text of a message without a text part, the
// addresses of links are set as Mailpit sets them.
func textOf(full *message.Message) string {
	if full.HTML == nil || full.Text != sanitize.Text(*full.HTML) {
		return full.Text
	}
	return sanitize.SpacedText(*full.HTML)
}

// loadView reads a message with the HTML as the sender wrote it, for its text, or made safe. Errors: message.not_found,
// server.unavailable.
func (a *API) loadView(ctx context.Context, ref message.Ref, original bool) (*message.Message, error) {
	reserve := a.reserveReading(ctx)
	if original {
		full, err := a.Messages.Original(ctx, ref.Box, ref.Message, reserve)
		if err != nil {
			return nil, err
		}
		return full.Message, nil
	}
	if err := a.Messages.Reserve(ctx, ref.Box, ref.Message, reserve); err != nil {
		return nil, err
	}
	return a.Messages.Get(ctx, ref.Box, ref.Message)
}

// view responds with the HTML of a message (/view/{id}.html), with its text (/view/{id}.txt), or with its HTML if it has any
// and else its text (/view/{id}). id may be latest, of all messages or of those that the parameter query matches. The HTML is
// sanitized, and its Content-Security-Policy allows remote images but no scripts.
func (a *API) view(w http.ResponseWriter, r *http.Request) {
	name, wantText := strings.CutSuffix(r.PathValue("name"), ".txt")
	name, wantHTML := strings.CutSuffix(name, ".html")
	_, ref, err := a.findMail(r, name)
	var full *message.Message
	if err == nil {
		full, err = a.loadView(r.Context(), ref, wantText)
	}
	switch {
	case err != nil:
		a.respondError(w, r, err)
		return
	case wantText, full.HTML == nil && !wantHTML:
		writeText(w, http.StatusOK, textOf(full))
		return
	case full.HTML == nil:
		writeError(w, http.StatusNotFound, "the message has no HTML part")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; font-src *; sandbox allow-popups")
	_, _ = io.WriteString(w, "<!doctype html><meta charset=utf-8><title>"+html.EscapeString(full.Subject)+"</title>"+*full.HTML)
}
