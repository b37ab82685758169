package mailtm

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// How much memory is reserved for a response, in octets, as an upper bound.
const (
	summaryOctets    = 16 << 10  // for each message of a list
	fullOctets       = 64 << 10  // for a message with its content, and
	textFactor       = 16        // times its header fields and texts
	sourceOctets     = 256 << 10 // for the pieces of a raw message in JSON
	attachmentOctets = 3 * httpkit.ChunkSize
)

// reserveReading returns a function that reserves the memory to read a message without its attachments.
func (a *API) reserveReading(ctx context.Context) message.Reserve {
	return func(octets int64) error { return a.kit.Reserve(ctx, budget.Response, fullOctets+textFactor*octets) }
}

// address is a sender or recipient in the format of mail.tm.
type address struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// addresses converts addresses into the format of mail.tm. It returns an empty list, not nil, for none, so that JSON has [].
func addresses(all []message.Address) []address {
	list := make([]address, len(all))
	for i, a := range all {
		list[i] = address(a)
	}
	return list
}

// summary is a message in a list, in the format of mail.tm.
type summary struct {
	jsonLD
	ID             id.Message `json:"id"`
	AccountID      string     `json:"accountId"`
	MsgID          string     `json:"msgid"`
	From           address    `json:"from"`
	To             []address  `json:"to"`
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

// summaryOf converts a message into the format of mail.tm. A message without a Message-ID gets one made from its
// identifier, since clients use msgid as a key.
func summaryOf(m *message.Summary, box *mailbox.Mailbox, ld jsonLD) summary {
	msgid := m.HeaderID
	if msgid == "" {
		msgid = string(m.ID) + "@" + box.Domain
	}
	received := formatTime(m.ReceivedAt.Time)
	return summary{
		jsonLD: ld, ID: m.ID, AccountID: "/accounts/" + string(box.ID), MsgID: "<" + msgid + ">", From: address(m.From), To: addresses(m.To),
		Subject: m.Subject, Intro: m.Preview, Seen: m.Seen, HasAttachments: m.HasAttachments, Size: m.Size,
		DownloadURL: "/messages/" + string(m.ID) + "/download", SourceURL: "/sources/" + string(m.ID), CreatedAt: received, UpdatedAt: received,
	}
}

// messageIRI returns the path of a message, which is its @id.
func messageIRI(m id.Message) string { return "/messages/" + string(m) }

// listMessages responds with a page of messages, newest first. It reserves the memory before it reads them.
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
	members := make([]summary, len(all))
	for i := range all {
		members[i] = summaryOf(&all[i], box, newJSONLD(r, "Message", messageIRI(all[i].ID), false))
	}
	return respondList(w, r, "Message", "/messages", page, box.MessageCount, members)
}

// fullMessage is a message with its content. HTML is a list because it is one in mail.tm; it has at most one element.
type fullMessage struct {
	summary
	CC            []address      `json:"cc"`
	BCC           []address      `json:"bcc"`
	Flagged       bool           `json:"flagged"`
	Verifications *verifications `json:"verifications"`
	Retention     bool           `json:"retention"`
	RetentionDate string         `json:"retentionDate"`
	Text          string         `json:"text"`
	HTML          []string       `json:"html"`
	Attachments   []attachment   `json:"attachments"`
}

// verifications has the results of the checks of a message. Some clients that ask for plain JSON expect a list in its
// place, so plain JSON has null, which all clients accept.
type verifications struct {
	TLS struct {
		Name         string `json:"name"`
		StandardName string `json:"standardName"`
		Version      string `json:"version"`
	} `json:"tls"`
	SPF  bool `json:"spf"`
	DKIM bool `json:"dkim"`
}

// verificationsOf returns the results of SPF and DKIM, and whether TLS was used. The version and the cipher of TLS are not
// stored.
func verificationsOf(m *message.Message) *verifications {
	v := &verifications{SPF: m.Authentication.SPF == "pass", DKIM: m.Authentication.DKIM == "pass"}
	if m.Envelope.TLS {
		v.TLS.Name, v.TLS.StandardName, v.TLS.Version = "TLS", "TLS", "TLS"
	}
	return v
}

// attachment describes an attachment in the format of mail.tm.
type attachment struct {
	ID               id.Attachment `json:"id"`
	Filename         string        `json:"filename"`
	ContentType      string        `json:"contentType"`
	Disposition      string        `json:"disposition"`
	TransferEncoding string        `json:"transferEncoding"`
	Related          bool          `json:"related"`
	Size             int64         `json:"size"`
	DownloadURL      string        `json:"downloadUrl"`
}

// parseMessageID returns the identifier of the message that the path names. Error: message.not_found.
func parseMessageID(r *http.Request) (id.Message, error) {
	m, err := id.Parse[id.Message](r.PathValue("id"))
	if err != nil {
		return "", problem.New(problem.MessageNotFound)
	}
	return m, nil
}

// getMessage responds with a message and its content. It does not mark the message as seen; clients do that with PATCH.
func (a *API) getMessage(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	m, err := parseMessageID(r)
	if err != nil {
		return err
	}
	if err := a.Messages.Reserve(r.Context(), box.ID, m, a.reserveReading(r.Context())); err != nil {
		return err
	}
	found, err := a.Messages.Get(r.Context(), box.ID, m)
	if err != nil {
		return err
	}
	full := fullMessage{
		summary: summaryOf(&found.Summary, box, newJSONLD(r, "Message", messageIRI(m), true)), CC: addresses(found.CC), BCC: []address{},
		Retention: true, RetentionDate: formatTime(box.ExpiresAt), Text: found.Text, HTML: []string{}, Attachments: []attachment{},
	}
	if !wantsJSON(r) {
		full.Verifications = verificationsOf(found)
	}
	if found.HTML != nil {
		full.HTML = append(full.HTML, *found.HTML)
	}
	for _, f := range found.Attachments {
		full.Attachments = append(full.Attachments, attachment{
			ID: f.ID, Filename: f.Filename, ContentType: f.ContentType, Disposition: "attachment", TransferEncoding: "base64", Related: f.Inline,
			Size: f.Size, DownloadURL: messageIRI(m) + "/attachment/" + string(f.ID),
		})
	}
	return respond(w, r, http.StatusOK, full)
}

// markMessage marks a message as seen or unseen. The response is the message or, in plain JSON, only its new state.
func (a *API) markMessage(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	m, err := parseMessageID(r)
	if err != nil {
		return err
	}
	var change struct {
		Seen *bool `json:"seen"`
	}
	if err := a.decodeBody(r, &change); err != nil {
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
	m, err := parseMessageID(r)
	if err != nil {
		return err
	}
	if err := a.Messages.Delete(r.Context(), box.ID, m); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
