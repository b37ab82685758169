package mailtm

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// The memory that an answer takes, in octets: for each summary of a list, and for each octet of a full message.
const (
	summaryOctets = 16 << 10
	detailFactor  = 4
	sourceFactor  = 8
)

// party is a sender or recipient as mail.tm shows it.
type party struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// parties returns addresses in the form of mail.tm, an empty list for none.
func parties(all []message.Address) []party {
	shown := make([]party, len(all))
	for i, a := range all {
		shown[i] = party(a)
	}
	return shown
}

// summary is a message in a list of mail.tm.
type summary struct {
	jsonLD
	ID             id.Message `json:"id"`
	AccountID      string     `json:"accountId"`
	MsgID          string     `json:"msgid"`
	From           party      `json:"from"`
	To             []party    `json:"to"`
	Subject        string     `json:"subject"`
	Intro          string     `json:"intro"`
	Seen           bool       `json:"seen"`
	IsDeleted      bool       `json:"isDeleted"`
	HasAttachments bool       `json:"hasAttachments"`
	Size           int64      `json:"size"`
	DownloadURL    string     `json:"downloadUrl"`
	SourceURL      string     `json:"sourceUrl"`
	CreatedAt      string     `json:"createdAt"`
	UpdatedAt      string     `json:"updatedAt"`
}

// summaryOf returns a message in the form of mail.tm. A message without a Message-ID gets one made of its identifier,
// since clients use the member as a key.
func summaryOf(m *message.Summary, box *mailbox.Mailbox, l jsonLD) summary {
	msgid := m.HeaderID
	if msgid == "" {
		msgid = string(m.ID) + "@" + box.Domain
	}
	at := stamp(m.ReceivedAt.Time)
	return summary{
		jsonLD: l, ID: m.ID, AccountID: "/accounts/" + string(box.ID), MsgID: "<" + msgid + ">", From: party(m.From), To: parties(m.To),
		Subject: m.Subject, Intro: m.Preview, Seen: m.Seen, HasAttachments: m.HasAttachments, Size: m.Size,
		DownloadURL: "/messages/" + string(m.ID) + "/download", SourceURL: "/sources/" + string(m.ID), CreatedAt: at, UpdatedAt: at,
	}
}

func messageIRI(m id.Message) string { return "/messages/" + string(m) }

// listMessages answers with a page of messages, newest first. Memory is reserved before they are read.
func (a *API) listMessages(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	page, err := parsePage(r)
	if err != nil {
		return err
	}
	if err := a.kit.Reserve(r.Context(), budget.Response, pageLen*summaryOctets); err != nil {
		return err
	}
	all, err := a.Messages.Numbered(r.Context(), box.ID, (page-1)*pageLen, pageLen)
	if err != nil {
		return err
	}
	shown := make([]summary, len(all))
	for i := range all {
		shown[i] = summaryOf(&all[i], box, newJSONLD(r, "Message", messageIRI(all[i].ID), false))
	}
	return respondList(w, r, "Message", "/messages", page, box.MessageCount, shown)
}

// full is a message with its content. HTML is a list, as in mail.tm, of one element at most.
type full struct {
	summary
	CC            []party  `json:"cc"`
	BCC           []party  `json:"bcc"`
	Flagged       bool     `json:"flagged"`
	Verifications *checks  `json:"verifications"`
	Retention     bool     `json:"retention"`
	RetentionDate string   `json:"retentionDate"`
	Text          string   `json:"text"`
	HTML          []string `json:"html"`
	Attachments   []file   `json:"attachments"`
}

// checks is the member verifications. Some clients expect an object there and others a list; all of them accept null.
type checks struct {
	TLS struct {
		Name         string `json:"name"`
		StandardName string `json:"standardName"`
		Version      string `json:"version"`
	} `json:"tls"`
	SPF  bool `json:"spf"`
	DKIM bool `json:"dkim"`
}

// checksOf returns the results of SPF and DKIM. Of TLS only its use is stored, so the member has no version or cipher.
func checksOf(m *message.Message) *checks {
	c := &checks{SPF: m.Authentication.SPF == "pass", DKIM: m.Authentication.DKIM == "pass"}
	if m.Envelope.TLS {
		c.TLS.Name, c.TLS.StandardName, c.TLS.Version = "TLS", "TLS", "TLS"
	}
	return c
}

// file is an attachment as mail.tm shows it.
type file struct {
	ID               id.Attachment `json:"id"`
	Filename         string        `json:"filename"`
	ContentType      string        `json:"contentType"`
	Disposition      string        `json:"disposition"`
	TransferEncoding string        `json:"transferEncoding"`
	Related          bool          `json:"related"`
	Size             int64         `json:"size"`
	DownloadURL      string        `json:"downloadUrl"`
}

// messageOf returns the identifier in the path. Error: message.not_found.
func messageOf(r *http.Request) (id.Message, error) {
	m, err := id.Parse[id.Message](r.PathValue("id"))
	if err != nil {
		return "", problem.New(problem.MessageNotFound)
	}
	return m, nil
}

// getMessage answers with a message. It does not mark it as seen; clients do that with PATCH.
func (a *API) getMessage(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	m, err := messageOf(r)
	if err != nil {
		return err
	}
	s, err := a.Messages.Summary(r.Context(), box.ID, m)
	if err != nil {
		return err
	}
	if err := a.kit.Reserve(r.Context(), budget.Response, detailFactor*s.Size+summaryOctets); err != nil {
		return err
	}
	found, err := a.Messages.Get(r.Context(), box.ID, m)
	if err != nil {
		return err
	}
	shown := full{
		summary: summaryOf(&found.Summary, box, newJSONLD(r, "Message", messageIRI(m), true)), CC: parties(found.CC), BCC: []party{},
		Retention: true, RetentionDate: stamp(box.ExpiresAt), Text: found.Text, HTML: []string{}, Attachments: []file{},
	}
	if !wantsJSON(r) {
		shown.Verifications = checksOf(found)
	}
	if found.HTML != nil {
		shown.HTML = append(shown.HTML, *found.HTML)
	}
	for _, f := range found.Attachments {
		shown.Attachments = append(shown.Attachments, file{
			ID: f.ID, Filename: f.Filename, ContentType: f.ContentType, Disposition: "attachment", TransferEncoding: "base64", Related: f.Inline,
			Size: f.Size, DownloadURL: messageIRI(m) + "/attachment/" + string(f.ID),
		})
	}
	return respond(w, r, http.StatusOK, shown)
}

// markMessage marks a message as seen or not.
func (a *API) markMessage(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	m, err := messageOf(r)
	if err != nil {
		return err
	}
	var change struct {
		Seen *bool `json:"seen"`
	}
	if err := a.decodeBody(w, r, &change); err != nil {
		return err
	}
	if change.Seen == nil {
		return problem.Invalid("/seen", "must be true or false")
	}
	if _, err := a.Messages.SetSeen(r.Context(), box.ID, m, *change.Seen); err != nil {
		return err
	}
	if !wantsJSON(r) {
		return a.getMessage(w, r, box)
	}
	return respond(w, r, http.StatusOK, map[string]bool{"seen": *change.Seen})
}

// deleteMessage deletes a message.
func (a *API) deleteMessage(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	m, err := messageOf(r)
	if err != nil {
		return err
	}
	if err := a.Messages.Delete(r.Context(), box.ID, m); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sandbox keeps scripts in a sender's content from running in a browser.
const sandbox = "default-src 'none'; sandbox"

// download answers with the raw message, chunk by chunk, so that its size does not matter for memory. Error:
// message.raw_expired, after its retention.
func (a *API) download(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	content, first, err := a.raw(r, box, func(size *message.Raw) int64 { return size.Memory() })
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "message/rfc822")
	h.Set("Content-Security-Policy", sandbox)
	h.Set("Content-Length", strconv.FormatInt(content.Size(), 10))
	for octets := first; ; {
		if _, err := w.Write(octets); err != nil { //nolint:gosec // message/rfc822 in a sandbox, which no browser renders
			return nil //nolint:nilerr // the client is gone, and no answer reaches it
		}
		if octets, err = content.Next(r.Context()); errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client sees that octets are missing
		}
	}
}

// raw opens the raw message that the path names and reads its first chunk. need returns how much memory to reserve for
// a message. The first chunk is read here because an error must come before the answer begins.
func (a *API) raw(r *http.Request, box *mailbox.Mailbox, need func(*message.Raw) int64) (content *message.Raw, first []byte, err error) {
	m, err := messageOf(r)
	if err != nil {
		return nil, nil, err
	}
	if content, err = a.Messages.Raw(r.Context(), box.ID, m); err != nil {
		return nil, nil, err
	}
	if err := a.kit.Reserve(r.Context(), budget.Response, need(content)); err != nil {
		return nil, nil, err
	}
	if first, err = content.Next(r.Context()); errors.Is(err, io.EOF) {
		err = nil
	}
	return content, first, err
}

// source is the raw message as a resource: Data is the whole message as a JSON string.
type source struct {
	jsonLD
	ID          string `json:"id"`
	DownloadURL string `json:"downloadUrl"`
	Data        string `json:"data"`
}

// source answers with the raw message in JSON, which needs several copies in memory, hence sourceFactor.
func (a *API) source(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	content, first, err := a.raw(r, box, func(c *message.Raw) int64 { return c.Memory() + sourceFactor*c.Size() })
	if err != nil {
		return err
	}
	data := append(make([]byte, 0, content.Size()), first...)
	for {
		octets, err := content.Next(r.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		data = append(data, octets...)
	}
	name := r.PathValue("id")
	return respond(w, r, http.StatusOK, source{newJSONLD(r, "Source", "/sources/"+name, true), name, "/messages/" + name + "/download", string(data)})
}

// attachment answers with an attachment's content. A content type that is not valid is answered as
// application/octet-stream.
func (a *API) attachment(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	m, err := messageOf(r)
	if err != nil {
		return err
	}
	name, err := id.Parse[id.Attachment](r.PathValue("attachment"))
	if err != nil {
		return problem.New(problem.AttachmentNotFound)
	}
	s, err := a.Messages.Summary(r.Context(), box.ID, m)
	if err != nil {
		return err
	}
	if err := a.kit.Reserve(r.Context(), budget.Response, detailFactor*s.Size); err != nil {
		return err
	}
	f, content, err := a.Messages.Attachment(r.Context(), box.ID, m, name)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	if media, params, err := mime.ParseMediaType(f.ContentType); err == nil {
		h.Set("Content-Type", mime.FormatMediaType(media, params))
	}
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Filename}))
	h.Set("Content-Security-Policy", sandbox)
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	_, _ = io.Copy(w, content) // if it fails, the body is shorter than Content-Length, which the client notices
	return nil
}
