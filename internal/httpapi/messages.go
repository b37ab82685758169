package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
)

// messages registers the group messages (docs/spec/messages.md).
func (a *API) messages() {
	const group = "messages"
	read := httpkit.Operation{Method: http.MethodGet, Status: 200, Auth: []httpkit.Scheme{mailboxToken}, Limit: ratelimit.Reads, Expired: problem.MessageNotFound}
	with := func(id, path, summary string, codes ...problem.Code) httpkit.Operation {
		o := read
		o.ID, o.Path, o.Summary, o.Codes = id, path, summary, codes
		return o
	}
	list := with("list-messages", "/mailboxes/me/messages", "List the messages, newest first; wait for one")
	list.Text, list.Expired = "With `wait`, the response is delayed until there is a message, at most that many seconds. No message that was accepted from its sender before or during the wait is missed. The filters `to`, `from`, `subject`, `has` and `unseen` restrict the list to messages that match all of them, and a wait ends with the first message that does.", ""
	register(a, group, list, a.listMessages)
	a.inject(group)
	deliveries := with("list-mail-deliveries", "/mailboxes/me/deliveries", "List what became of the mail for the mailbox's address")
	deliveries.Text, deliveries.Expired = deliveryLogText, ""
	register(a, group, deliveries, a.listMailDeliveries)
	a.singleMessages(group)
	a.accountMessages()
}

// singleMessages registers the operations on one message, with the token of its mailbox or a credential of its account.
func (a *API) singleMessages(group string) {
	with := func(method, id, path, summary string, status int, scope apikey.Scope, codes ...problem.Code) httpkit.Operation {
		limit := ratelimit.Other
		if method == http.MethodGet {
			limit = ratelimit.Reads
		}
		return httpkit.Operation{
			ID: id, Method: method, Path: "/messages/{id}" + path, Summary: summary, Status: status, Auth: []httpkit.Scheme{mailboxToken, userToken, apiKey},
			Scope: string(scope), Limit: limit, Expired: problem.MessageNotFound, Codes: append(codes, problem.MessageNotFound),
			Text: "With the token of the mailbox; or with a user token or a key (scope `" + string(scope) + "`), for a message in any mailbox of the account.",
		}
	}
	register(a, group, with(http.MethodGet, "get-message", "", "Read a message and mark it as seen", 200, apikey.MessagesRead), a.getMessage)
	change := with(http.MethodPatch, "update-message", "", "Mark a message as seen or unseen", 200, apikey.MailboxesWrite)
	change.Text += " The mailbox's `unreadCount` follows. The response is the summary of the message."
	register(a, group, change, a.updateMessage)
	register(a, group, with(http.MethodDelete, "delete-message", "", "Delete a message", 204, apikey.MailboxesWrite), a.deleteMessage)
	raw := with(http.MethodGet, "get-message-raw", "/raw", "Download the raw message as .eml", 200, apikey.MessagesRead, problem.MessageRawExpired)
	raw.Media, raw.Expired = "message/rfc822", ""
	raw.Text = "The bytes exactly as received, after the Return-Path, Authentication-Results and Received fields of this server. " + raw.Text
	register(a, group, raw, a.getRaw)
	check := with(http.MethodGet, "check-message", "/checks", "Check how a message will fare in mail clients", 200, apikey.MessagesRead)
	check.Text = checkText + check.Text
	register(a, group, check, a.checkMessage)
	dialog := with(http.MethodGet, "get-message-transcript", "/transcript", "Get the SMTP dialog of a message", 200, apikey.MessagesRead, problem.TranscriptNotFound)
	dialog.Text = "Of mail for the sink and for projects, for 24 hours. " + dialog.Text
	register(a, group, dialog, a.getTranscript)
	a.messageParts(group, with)
	a.releases(group)
	attachment := with(http.MethodGet, "get-attachment", "/attachments/{attId}", "Download an attachment", 200, apikey.MessagesRead,
		problem.AttachmentNotFound, problem.AttachmentNotRetained)
	attachment.Media = "application/octet-stream"
	attachment.Text = "The sender's bytes, as application/octet-stream whatever type the sender declared. A browser saves them and never shows them. " + attachment.Text
	register(a, group, attachment, a.getAttachment)
}

// Newer restricts messages to newer ones, and waits for one (docs/spec/conventions.md#waiting).
type Newer struct {
	Wait  int    `query:"wait" minimum:"0" maximum:"60" default:"0" doc:"Seconds to wait for a result."`
	After string `query:"after" maxLength:"64" doc:"Only messages after the one with this id."`
	Since string `query:"since" maxLength:"64" doc:"Only messages received after this RFC 3339 time, in milliseconds: the last receivedAt serves as a cursor."`
}

func (n Newer) bounds() (after id.Message, since time.Time, err error) {
	if n.After != "" {
		if after, err = id.Parse[id.Message](n.After); err != nil {
			return "", since, problem.Invalid("?after", "is not the id of a message")
		}
	}
	if n.Since != "" {
		var s clock.Stamp
		if err := s.UnmarshalText([]byte(n.Since)); err != nil {
			return "", since, problem.Invalid("?since", "is not an RFC 3339 time such as 2026-01-31T12:00:00Z")
		}
		since = s.Time
	}
	return after, since, nil
}

// SenderFilter restricts messages by what their header says.
type SenderFilter struct {
	To      string `query:"to" maxLength:"255" doc:"Only to recipients that contain this, regardless of case: those of the envelope that led to the mailbox, and the addresses and names in To and Cc."`
	From    string `query:"from" maxLength:"255" doc:"Only from senders whose address or name contains this, regardless of case."`
	Subject string `query:"subject" maxLength:"255" doc:"Only with a subject that contains this, regardless of case."`
}

func (f SenderFilter) match() message.Match {
	return message.Match{To: f.To, From: f.From, Subject: f.Subject}
}

// MessageFilter restricts a list of messages (docs/spec/messages.md#filtering-a-list).
type MessageFilter struct {
	SenderFilter
	Has    []string `query:"has,explode" enum:"code,link,action,bestLink,attachment" doc:"Only with a one-time code, a link, an action, a link to follow (bestLink) or an attachment. Repeat it to ask for several: has=code&has=link."`
	Unseen bool     `query:"unseen" doc:"With true, only messages that were not read yet."`
}

func (f MessageFilter) match() message.Match {
	m := f.SenderFilter.match()
	m.Unseen = f.Unseen
	for _, has := range f.Has {
		m.Code, m.Link, m.Attachment = m.Code || has == "code", m.Link || has == "link", m.Attachment || has == "attachment"
		m.BestLink = m.BestLink || has == "bestLink"
		m.Action = m.Action || has == "action"
	}
	return m
}

func (a *API) listMessages(ctx context.Context, in *struct {
	Newer
	MessageFilter
	httpkit.Paging
},
) (*httpkit.EncodedWait[resource.Summary], error) {
	m := from(ctx).mailbox
	return a.messagesOf(ctx, m, in.Newer, in.match(), in.Paging, func() error { return a.ended(ctx, m, problem.MailboxExpired) })
}

// messagesOf lists the messages of a mailbox. After a wait without a result it calls checkLive, which returns an error if the
// mailbox ended meanwhile.
func (a *API) messagesOf(ctx context.Context, m *mailbox.Mailbox, n Newer, match message.Match, p httpkit.Paging, checkLive func() error) (*httpkit.EncodedWait[resource.Summary], error) {
	after, since, err := n.bounds()
	if err != nil {
		return nil, err
	}
	wait, done, err := a.kit.Poll(ctx, n.Wait, a.left(ctx, m))
	if err != nil {
		return nil, err
	}
	defer done()
	q, began := message.Query{After: after, Since: since, Cursor: p.Cursor, Limit: a.kit.PageSize(p), Match: match, Wait: wait, Credential: a.credentialCheck(ctx)}, a.kit.Clock.Now()
	all, err := a.pageOf(ctx, q, a.listOf(m))
	if err != nil {
		return nil, err
	}
	shown := &httpkit.EncodedWait[resource.Summary]{Body: httpkit.EncodedWaited[resource.Summary]{EncodedList: shownPage(all).Body}}
	if len(all.Messages) == 0 && wait > 0 {
		if err := checkLive(); err != nil {
			return nil, err
		}
		if all.Next == "" {
			shown.Body.Diagnosis = a.diagnose(ctx, diagnosis.Wait{Began: began, Query: allmail.Query{Query: q}, Box: m})
		}
	}
	return shown, nil
}

// shownPage returns the response with a page.
func shownPage(p message.Page) *httpkit.EncodedMany[resource.Summary] {
	return &httpkit.EncodedMany[resource.Summary]{Body: httpkit.EncodedList[resource.Summary]{
		AppendItem: func(b []byte, i int) []byte { return p.Messages[i].AppendJSON(b) }, Items: len(p.Messages), Octets: p.Octets, NextCursor: p.Next,
	}}
}

// The octets of a page of messages. Nearly all pages are small: those are read before memory is reserved, so that waiting
// long-polls hold none. A larger page is read again after reserving memory for it.
const (
	pageMax   = 3 << 19
	smallPage = 160 << 10
	pageCost  = 3 // times its octets: the page itself, and the buffer in which it is encoded
)

// listOf returns a function that lists the messages of a mailbox.
func (a *API) listOf(m *mailbox.Mailbox) func(context.Context, message.Query) (message.Page, error) {
	return func(ctx context.Context, q message.Query) (message.Page, error) { return a.Messages.List(ctx, m.ID, q) }
}

// pageOf reads a page of messages with list and reserves memory for it.
func (a *API) pageOf(ctx context.Context, q message.Query, list func(context.Context, message.Query) (message.Page, error)) (message.Page, error) {
	q.Octets = smallPage
	all, err := list(ctx, q)
	switch {
	case err != nil || len(all.Messages) == 0:
		return all, err
	case !all.Short:
		return all, a.kit.Reserve(ctx, budget.Response, int64(all.Octets)*pageCost)
	}
	all = message.Page{}
	if err := a.kit.Reserve(ctx, budget.Response, pageMax*pageCost); err != nil {
		return all, err
	}
	q.Octets, q.Wait = pageMax, 0
	return list(ctx, q)
}

// left returns how long a wait on a mailbox can last: until the mailbox or the developer key of the call expires.
func (a *API) left(ctx context.Context, m *mailbox.Mailbox) time.Duration {
	return a.leftOfKey(ctx, m.TTL(a.kit.Clock.Now()))
}

// leftOfKey returns how long a wait of a duration can last: until the developer key of the call expires, if there is one.
func (a *API) leftOfKey(ctx context.Context, wait time.Duration) time.Duration {
	if key := from(ctx).key; key != nil && !key.ExpiresAt.IsZero() {
		wait = min(wait, key.ExpiresAt.Sub(a.kit.Clock.Now()))
	}
	return wait
}

// credentialCheck returns the check of the credential of a call: of its developer key or, for the mailbox of an account,
// of the mailbox token, which is no longer valid when the account is disabled. Other calls need no check.
func (a *API) credentialCheck(ctx context.Context) message.CredentialCheck {
	key, box := from(ctx).key, from(ctx).mailbox
	switch {
	case key == nil && box != nil && box.Owner.Account != "":
		return message.CredentialCheck{Check: func(ctx context.Context) error { return a.Mailboxes.CheckToken(ctx, box) }}
	case key == nil:
		return message.CredentialCheck{}
	}
	return message.CredentialCheck{WakeKey: apikey.WakeKey(key.Prefix), Check: func(ctx context.Context) error {
		_, err := a.Keys.Find(ctx, key.Prefix)
		return err
	}}
}

// ended returns the problem of a mailbox token whose mailbox ended during a wait, nil if it is still live.
func (a *API) ended(ctx context.Context, m *mailbox.Mailbox, expired problem.Code) error {
	if live, err := a.Mailboxes.Live(ctx, m.ID); err != nil || live {
		return err
	}
	if m.Live(a.kit.Clock.Now()) {
		return problem.New(problem.AuthInvalidToken) // destroyed before its time
	}
	return problem.New(expired)
}

// MessagePath is the path of operations on one message.
type MessagePath struct {
	ID string `path:"id" doc:"The message's id."`
}

// message returns the id in the path. A malformed id gets the same response as an unknown one.
func (p MessagePath) message() (id.Message, error) {
	m, err := id.Parse[id.Message](p.ID)
	if err != nil {
		return "", problem.New(problem.MessageNotFound)
	}
	return m, nil
}

func (a *API) getMessage(ctx context.Context, in *MessagePath) (*httpkit.EncodedOne[message.Message], error) {
	box, m, err := a.locate(ctx, *in)
	if err != nil {
		return nil, err
	}
	return a.readMessage(ctx, box, m)
}

// readMessage reads a message in full, with the memory for it.
func (a *API) readMessage(ctx context.Context, box id.Mailbox, m id.Message) (*httpkit.EncodedOne[message.Message], error) {
	full, err := a.Messages.Read(ctx, box, m, a.reserveReading(ctx))
	if err != nil {
		return nil, err
	}
	if err := a.kit.Keep(ctx, fullCost+encodedCost*int64(len(full))); err != nil {
		return nil, err
	}
	return httpkit.SingleEncoded[message.Message](string(full)), nil
}

// The octets that reading a full message takes, most of them to sanitize its HTML. After that only the response counts, until
// a possibly slow client has taken it.
const (
	fullCost     = 64 << 10
	readingCost  = 16 // times the octets of the header fields and the texts
	encodingCost = 3  // times those of the response
	encodedCost  = 2  // times those of a response that is JSON: it, and the buffer that it is sent from
)

// reserveReading returns a function that reserves the memory to read a message without its attachments.
func (a *API) reserveReading(ctx context.Context) message.Reserve {
	return func(octets int64) error { return a.kit.Reserve(ctx, budget.Response, fullCost+readingCost*octets) }
}

// textOf returns the octets of a message's texts, header fields and links.
func textOf(m *message.Message) int64 {
	n := m.TextSize()
	for _, l := range m.Links {
		n += int64(len(l))
	}
	return n
}

// messageChange is the body of a change to a message.
type messageChange struct {
	_    struct{} `additionalProperties:"false"`
	Seen bool     `json:"seen" doc:"Whether the message counts as read." example:"true"`
}

func (a *API) updateMessage(ctx context.Context, in *struct {
	MessagePath
	Body messageChange
},
) (*httpkit.One[message.Summary], error) {
	box, m, err := a.locate(ctx, in.MessagePath)
	if err != nil {
		return nil, err
	}
	summary, err := a.Messages.SetSeen(ctx, box, m, in.Body.Seen)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(*summary), nil
}

func (a *API) deleteMessage(ctx context.Context, in *MessagePath) (*struct{}, error) {
	box, m, err := a.locate(ctx, *in)
	if err != nil {
		return nil, err
	}
	return nil, a.Messages.Delete(ctx, box, m)
}

func (a *API) getRaw(ctx context.Context, in *MessagePath) (*httpkit.Download, error) {
	box, m, err := a.locate(ctx, *in)
	if err != nil {
		return nil, err
	}
	raw, err := a.Messages.Raw(ctx, box, m)
	if err != nil {
		return nil, err
	}
	if err := a.kit.Reserve(ctx, budget.Response, raw.Memory()); err != nil {
		return nil, err
	}
	first, err := raw.Next(ctx) // before the response begins, so that an error can still become a problem response
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return httpkit.NewDownload("message/rfc822", string(m)+".eml", a.kit.Send(raw.Size(), first, raw.Next)), nil
}

// attachmentCost is how many octets a download of an attachment takes: the chunk that is sent, and what it is decoded from.
const attachmentCost = 3 * httpkit.ChunkSize

func (a *API) getAttachment(ctx context.Context, in *struct {
	MessagePath
	AttID string `path:"attId" doc:"The attachment's id."`
},
) (*httpkit.Download, error) {
	m, err := in.message()
	if err != nil {
		return nil, err
	}
	att, err := id.Parse[id.Attachment](in.AttID)
	if err != nil {
		return nil, problem.New(problem.AttachmentNotFound)
	}
	box, err := a.boxOf(ctx, m)
	if err != nil {
		return nil, err
	}
	if err := a.Messages.Reserve(ctx, box, m, a.reserveReading(ctx)); err != nil {
		return nil, err
	}
	file, octets, err := a.Messages.Attachment(ctx, box, m, att)
	if err != nil {
		return nil, err
	}
	held := int64(attachmentCost)
	if _, whole := octets.(*bytes.Reader); whole {
		held += file.Size
	}
	if err := a.kit.Keep(ctx, held); err != nil {
		return nil, err
	}
	next := httpkit.Chunks(octets)
	first, err := next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return httpkit.NewDownload("application/octet-stream", file.Filename, a.kit.Send(file.Size, first, next)), nil
}
