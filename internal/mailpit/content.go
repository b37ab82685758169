package mailpit

import (
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
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// detail is a message with its content. The names of the fields are those in JSON. Tags and Username are always empty.
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

// attachment describes an attachment. PartID is its number in the message, counted from 1; it is used in paths.
type attachment struct {
	PartID      string
	FileName    string
	ContentType string
	ContentID   string
	Size        int64
	Checksums   struct{ MD5, SHA1, SHA256 string }
}

// detailFactor is how many octets of memory a response takes for each octet of the message in it, as an upper bound.
const detailFactor = 4

// loadMessage reads the message that the path names, with its content. It reserves the memory first. Errors:
// message.not_found, server.unavailable.
func (a *API) loadMessage(r *http.Request) (*sink.Mail, message.Ref, *message.Message, error) {
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

// message responds with a message and marks it as read.
func (a *API) message(w http.ResponseWriter, r *http.Request) {
	m, ref, full, err := a.loadMessage(r)
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
		Date: m.ReceivedAt.UTC(), Tags: []string{}, Text: full.Text, Size: full.Size, Inline: []attachment{}, Attachments: []attachment{},
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
	for i := range full.Attachments {
		described, err := a.describeAttachment(r.Context(), ref, i, &full.Attachments[i])
		if err != nil {
			a.respondError(w, r, err)
			return
		}
		if full.Attachments[i].Inline {
			d.Inline = append(d.Inline, described)
		} else {
			d.Attachments = append(d.Attachments, described)
		}
	}
	writeJSON(w, d)
}

// describeAttachment describes an attachment with the checksums of its content. index is its position in the message,
// counted from 0. SHA-256 is stored with the message. MD5 and SHA-1 are computed, and are "" if the content was too large
// to be kept.
func (a *API) describeAttachment(ctx context.Context, ref message.Ref, index int, f *message.Attachment) (attachment, error) {
	described := attachment{PartID: strconv.Itoa(index + 1), FileName: f.Filename, ContentType: f.ContentType, Size: f.Size}
	if f.ContentID != nil {
		described.ContentID = *f.ContentID
	}
	described.Checksums.SHA256 = f.SHA256
	_, content, err := a.Messages.Attachment(ctx, ref.Box, ref.Message, f.ID)
	if problem.Has(err, problem.AttachmentNotRetained) {
		return described, nil
	}
	if err != nil {
		return described, err
	}
	md5Hash, sha1Hash := md5.New(), sha1.New() //nolint:gosec // see the imports
	if _, err := io.Copy(io.MultiWriter(md5Hash, sha1Hash), content); err != nil {
		return described, err
	}
	described.Checksums.MD5, described.Checksums.SHA1 = hex.EncodeToString(md5Hash.Sum(nil)), hex.EncodeToString(sha1Hash.Sum(nil))
	return described, nil
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
	_, _, full, err := a.loadMessage(r)
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

// raw responds with the raw message. It sends one chunk after the other, so that it needs the same memory for a message of
// any size. Error: message.raw_expired, after the retention.
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
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Security-Policy", httpkit.Sandbox)
			responding = true
		}
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// openAttachment returns the attachment that the path names, and a reader of its content. Errors: message.not_found,
// attachment.not_found, server.unavailable.
func (a *API) openAttachment(r *http.Request) (*message.Attachment, io.Reader, error) {
	_, ref, full, err := a.loadMessage(r)
	if err != nil {
		return nil, nil, err
	}
	n, err := strconv.Atoi(r.PathValue("part"))
	if err != nil || n < 1 || n > len(full.Attachments) {
		return nil, nil, problem.New(problem.AttachmentNotFound)
	}
	return a.Messages.Attachment(r.Context(), ref.Box, ref.Message, full.Attachments[n-1].ID)
}

// part responds with the content of an attachment. If its content type is not valid, it is sent as
// application/octet-stream.
func (a *API) part(w http.ResponseWriter, r *http.Request) {
	f, content, err := a.openAttachment(r)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	httpkit.WriteAttachment(w, f.ContentType, f.Filename, f.Size, content)
}

// view responds with the HTML of a message (/view/{id}.html), with its text (/view/{id}.txt), or with its HTML if it has any
// and else its text (/view/{id}). id may be latest. The HTML is sanitized, and its Content-Security-Policy allows remote
// images but no scripts.
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
