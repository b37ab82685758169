package mailpit

import (
	"context"
	"crypto/md5"  //nolint:gosec // what Mailpit's clients compare, not a protection
	"crypto/sha1" //nolint:gosec // the same
	"encoding/hex"
	"errors"
	"html"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// detail is a message in full. The names of the fields are those of the JSON.
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

// unsubscribe has the List-Unsubscribe fields. Links that are not valid are not checked, so Errors is always empty.
type unsubscribe struct {
	Header     string
	Links      []string
	Errors     string
	HeaderPost string
}

// attachment describes a file. PartID is its number from 1, which is a part of the paths.
type attachment struct {
	PartID      string
	FileName    string
	ContentType string
	ContentID   string
	Size        int64
	Checksums   struct{ MD5, SHA1, SHA256 string }
}

// detailFactor is how many octets of memory an answer takes for each octet of the message that it shows.
const detailFactor = 4

// load reads the message that the path names, with its content. It reserves the memory first. Errors:
// message.not_found, server.unavailable.
func (a *API) load(r *http.Request) (*sink.Mail, message.Ref, *message.Message, error) {
	m, ref, err := a.findMail(r, r.PathValue("id"))
	if err != nil {
		return nil, ref, nil, err
	}
	if err := a.kit.Reserve(r.Context(), budget.Response, detailFactor*m.Size+pageOctets); err != nil {
		return nil, ref, nil, err
	}
	full, err := a.Messages.Original(r.Context(), ref.Box, ref.Message)
	return m, ref, full, err
}

// message answers with a message, and marks it as read.
func (a *API) message(w http.ResponseWriter, r *http.Request) {
	m, ref, full, err := a.load(r)
	if err == nil && !m.Seen {
		err = a.Mails.SetSeen(r.Context(), []id.SinkMail{m.ID}, true)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	d := detail{
		ID: m.ID, MessageID: full.MessageID, From: address(full.From), To: addresses(full.To), Cc: addresses(full.CC), Bcc: addresses(m.BCC),
		ReplyTo: addresses(full.ReplyTo), ReturnPath: full.Envelope.From, Subject: full.Subject, ListUnsubscribe: unsubscribeOf(full.Headers),
		Date: m.ReceivedAt.UTC(), Tags: []string{}, Text: full.Text, Size: full.Size, Inline: []attachment{}, Attachments: []attachment{},
	}
	if len(m.To) == 0 { // the message shows a recipient of the envelope where the header has none
		d.To = []address{}
	}
	if full.SentAt != nil {
		d.Date = full.SentAt.Time
	}
	if full.HTML != nil {
		d.HTML = *full.HTML
	}
	for i := range full.Attachments {
		shown, err := a.attachment(r.Context(), ref, i, &full.Attachments[i])
		if err != nil {
			a.respondError(w, r, err)
			return
		}
		if full.Attachments[i].Inline {
			d.Inline = append(d.Inline, shown)
		} else {
			d.Attachments = append(d.Attachments, shown)
		}
	}
	writeJSON(w, d)
}

// attachment describes an attachment with the checksums of its content. The content of a file that was too large to be
// kept has no MD5 and SHA-1. SHA-256 is stored with the message.
func (a *API) attachment(ctx context.Context, ref message.Ref, index int, f *message.Attachment) (attachment, error) {
	shown := attachment{PartID: strconv.Itoa(index + 1), FileName: f.Filename, ContentType: f.ContentType, Size: f.Size}
	if f.ContentID != nil {
		shown.ContentID = *f.ContentID
	}
	shown.Checksums.SHA256 = f.SHA256
	_, content, err := a.Messages.Attachment(ctx, ref.Box, ref.Message, f.ID)
	if problem.Has(err, problem.AttachmentNotRetained) {
		return shown, nil
	}
	if err != nil {
		return shown, err
	}
	short, long := md5.New(), sha1.New() //nolint:gosec // see the imports
	if _, err := io.Copy(io.MultiWriter(short, long), content); err != nil {
		return shown, err
	}
	shown.Checksums.MD5, shown.Checksums.SHA1 = hex.EncodeToString(short.Sum(nil)), hex.EncodeToString(long.Sum(nil))
	return shown, nil
}

var unsubscribeLink = regexp.MustCompile(`<([^<>\s]+)>`)

// unsubscribeOf returns the List-Unsubscribe fields of the header and the links in them (RFC 2369, RFC 8058).
func unsubscribeOf(headers []message.Header) unsubscribe {
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

// headers answers with the header fields by name.
func (a *API) headers(w http.ResponseWriter, r *http.Request) {
	_, _, full, err := a.load(r)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, headerMap(full.Headers))
}

// headerMap returns header fields by their canonical names, each with all its values in order.
func headerMap(all []message.Header) map[string][]string {
	values := make(map[string][]string, len(all))
	for _, h := range all {
		name := textproto.CanonicalMIMEHeaderKey(h.Name)
		values[name] = append(values[name], h.Value)
	}
	return values
}

// raw answers with the raw message, chunk by chunk. Error: message.raw_expired, after its retention.
func (a *API) raw(w http.ResponseWriter, r *http.Request) {
	_, ref, err := a.findMail(r, r.PathValue("id"))
	var content *message.Raw
	if err == nil {
		content, err = a.Messages.Raw(r.Context(), ref.Box, ref.Message)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	begun := false
	for {
		octets, err := content.Next(r.Context())
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil && !begun:
			a.respondError(w, r, err)
			return
		case err != nil:
			panic(http.ErrAbortHandler) // the client sees that octets are missing
		}
		if !begun {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Security-Policy", sandbox)
			begun = true
		}
		if _, err := w.Write(octets); err != nil {
			return
		}
	}
}

// sandbox keeps scripts in a sender's HTML from running, since they could call this API.
const sandbox = "default-src 'none'; sandbox"

// open returns the attachment that the path names, with a reader of its content.
func (a *API) open(r *http.Request) (*message.Attachment, io.Reader, error) {
	_, ref, full, err := a.load(r)
	if err != nil {
		return nil, nil, err
	}
	n, err := strconv.Atoi(r.PathValue("part"))
	if err != nil || n < 1 || n > len(full.Attachments) {
		return nil, nil, problem.New(problem.AttachmentNotFound)
	}
	return a.Messages.Attachment(r.Context(), ref.Box, ref.Message, full.Attachments[n-1].ID)
}

// part answers with the content of an attachment.
func (a *API) part(w http.ResponseWriter, r *http.Request) {
	f, content, err := a.open(r)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	if media, params, err := mime.ParseMediaType(f.ContentType); err == nil {
		h.Set("Content-Type", mime.FormatMediaType(media, params))
	}
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Filename}))
	h.Set("Content-Security-Policy", sandbox)
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	_, _ = io.Copy(w, content)
}

// view shows the HTML or the text of a message: /view/{id}.html, /view/{id}.txt, /view/{id}, where id may be latest.
// The HTML is sanitized and its policy allows remote images but no scripts. Text has no charset problem: it is UTF-8.
func (a *API) view(w http.ResponseWriter, r *http.Request) {
	name, wantText := strings.CutSuffix(r.PathValue("name"), ".txt")
	name, wantHTML := strings.CutSuffix(name, ".html")
	m, ref, err := a.findMail(r, name)
	if err == nil {
		err = a.kit.Reserve(r.Context(), budget.Response, detailFactor*m.Size+pageOctets)
	}
	var full *message.Message
	if err == nil {
		full, err = a.Messages.Get(r.Context(), ref.Box, ref.Message)
	}
	switch {
	case err != nil:
		a.respondError(w, r, err)
		return
	case wantText, full.HTML == nil && !wantHTML:
		writeText(w, http.StatusOK, full.Text)
		return
	case full.HTML == nil:
		writeError(w, http.StatusNotFound, "the message has no HTML part")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; font-src *; sandbox allow-popups")
	_, _ = io.WriteString(w, "<!doctype html><meta charset=utf-8><title>"+html.EscapeString(full.Subject)+"</title>"+*full.HTML)
}
