package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/compose"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Injector stores mail that clients inject.
type Injector interface {
	// Check returns the error with which Inject would refuse a mail for the address, whatever the mail.
	Check(ctx context.Context, address string) error
	// Inject stores a mail and returns its identifier. The lease covers the mail and Memory of its size; Inject may shrink it.
	Inject(ctx context.Context, address string, client netip.Addr, data []byte, lease *budget.Lease) (id.Message, error)
	// Memory returns the octets of memory that Inject needs for a mail of size octets, beside the mail.
	Memory(size int64) int64
}

// inject registers the operation that puts a message into a mailbox (docs/spec/messages.md#injecting-a-message).
func (a *API) inject(group string) {
	register(a, group, httpkit.Operation{
		ID: "inject-message", Method: http.MethodPost, Path: "/mailboxes/me/messages", Summary: "Put a message into the mailbox", Status: 201,
		Text: "For tests: the message takes the same way as one that came over SMTP, and ends the long-polls that wait for one. Send a whole mail as `message/rfc822`, or its parts as JSON. " +
			"Its `source` is `injected`. The message has at most as many octets as one over SMTP.",
		Auth: []httpkit.Scheme{mailboxToken}, Limit: ratelimit.Inject,
		Codes:  []problem.Code{problem.InjectDisabled, problem.MailboxFull, problem.MailDailyCap},
		Upload: &httpkit.UploadForm{Media: "message/rfc822", JSON: reflect.TypeFor[messageInjection]()},
	}, a.injectMessage)
}

// messageInjection is a mail in parts.
type messageInjection struct {
	_           struct{}              `additionalProperties:"false"`
	From        string                `json:"from,omitempty" maxLength:"998" doc:"The sender: an address, or a name followed by an address in angle brackets. By default the service itself." example:"Quick Shop <no-reply@shop.example>"`
	Subject     string                `json:"subject,omitempty" maxLength:"65536" pattern:"^[^\\r\\n\\x00]*$" doc:"The subject." example:"Your sign-in code"`
	Text        string                `json:"text,omitempty" doc:"The text." example:"Your sign-in code is 246810."`
	HTML        string                `json:"html,omitempty" doc:"The HTML, beside the text or instead of it."`
	Attachments []attachmentInjection `json:"attachments,omitempty" maxItems:"100" nullable:"false" doc:"The attachments."`
}

// attachmentInjection is an attachment of a mail in parts.
type attachmentInjection struct {
	_           struct{} `additionalProperties:"false"`
	Filename    string   `json:"filename" minLength:"1" maxLength:"255" pattern:"^[^\\r\\n\\x00]*$" doc:"The name of the file." example:"invoice.pdf"`
	ContentType string   `json:"contentType,omitempty" maxLength:"255" doc:"The media type; by default application/octet-stream." example:"application/pdf"`
	Content     string   `json:"content" doc:"The content in base64." example:"aGVsbG8="`
}

// jsonSlack is how many octets a JSON document may have beside the base64 of its parts.
const jsonSlack = 1 << 20

func (a *API) injectMessage(ctx context.Context, in *struct{ httpkit.Upload }) (*httpkit.One[message.Message], error) {
	if a.InjectOff {
		return nil, problem.New(problem.InjectDisabled)
	}
	m := from(ctx).mailbox
	stored, err := a.injected(ctx, m, in.Upload)
	if err != nil {
		return nil, a.injectionProblem(ctx, m, err)
	}
	if err := a.Messages.Reserve(ctx, from(ctx).mailbox.ID, stored, a.reserveReading(ctx)); err != nil {
		return nil, err
	}
	full, err := a.Messages.Get(ctx, m.ID, stored)
	if err != nil {
		return nil, err
	}
	if err := a.kit.Keep(ctx, fullCost+encodingCost*textOf(full)); err != nil {
		return nil, err
	}
	return httpkit.Single(*full), nil
}

// injected reads a message and stores it. A mailbox that cannot take another message is found out before the body is read:
// then what the client sends is dropped.
func (a *API) injected(ctx context.Context, m *mailbox.Mailbox, upload httpkit.Upload) (id.Message, error) {
	if err := a.Injector.Check(ctx, m.Address); err != nil {
		upload.Drop(a.MessageMax/3*4 + jsonSlack)
		return "", err
	}
	body, isJSON, lease, err := a.kit.ReadUpload(ctx, upload, httpkit.UploadBounds{
		MediaMax: a.MessageMax, JSONMax: a.MessageMax/3*4 + jsonSlack, Memory: a.Injector.Memory,
	})
	if err != nil {
		return "", err
	}
	defer lease.Release()
	if isJSON {
		if body, err = a.composed(m, body); err != nil {
			return "", err
		}
		if int64(len(body)) > a.MessageMax {
			return "", problem.Detailf(problem.RequestTooLarge, "the message has %d bytes, %d are allowed", len(body), a.MessageMax)
		}
	}
	return a.Injector.Inject(ctx, m.Address, httpkit.ClientAddr(ctx), body, lease)
}

// composed returns the mail that a JSON document describes.
func (a *API) composed(m *mailbox.Mailbox, document []byte) ([]byte, error) {
	var parts messageInjection
	if err := json.Unmarshal(document, &parts); err != nil {
		return nil, problem.Detailf(problem.RequestInvalid, "the body is not a JSON document of the expected form")
	}
	now := a.kit.Clock.Now()
	mail := compose.Mail{
		To: m.Address, Subject: parts.Subject, Text: parts.Text, HTML: parts.HTML, Date: now,
		MessageID: fmt.Sprintf("%s@%s", id.New[id.Event](now), m.Domain),
	}
	if parts.From == "" {
		parts.From = "Gonebox <no-reply@" + m.Domain + ">"
	}
	var err error
	if mail.From, err = compose.ParseFrom(parts.From); err != nil {
		return nil, problem.Invalid("/from", "is not an address such as no-reply@shop.example or Quick Shop <no-reply@shop.example>")
	}
	for i, part := range parts.Attachments {
		file := compose.File{Name: part.Filename, ContentType: "application/octet-stream"}
		if part.ContentType != "" {
			media, parameters, err := mime.ParseMediaType(part.ContentType)
			file.ContentType = mime.FormatMediaType(media, parameters)
			if err != nil || file.ContentType == "" || !strings.Contains(media, "/") {
				return nil, problem.Invalid(fmt.Sprintf("/attachments/%d/contentType", i), "is not a media type such as application/pdf")
			}
		}
		if file.Data, err = base64.StdEncoding.DecodeString(part.Content); err != nil {
			return nil, problem.Invalid(fmt.Sprintf("/attachments/%d/content", i), "is not base64")
		}
		mail.Files = append(mail.Files, file)
	}
	var whole bytes.Buffer
	if err := mail.Write(&whole); err != nil {
		return nil, problem.Detailf(problem.RequestInvalid, "these parts do not make a mail")
	}
	return whole.Bytes(), nil
}

// injectionProblem returns the problem of a message that could not be stored, with the codes of the API for those that sending servers get.
func (a *API) injectionProblem(ctx context.Context, m *mailbox.Mailbox, err error) error {
	p, ok := problem.From(err)
	if !ok {
		return err
	}
	switch p.Code {
	case problem.MailMailboxFull:
		return problem.Detailf(problem.MailboxFull, "%s", p.Detail)
	case problem.MailDailyCap:
		full := problem.Detailf(problem.MailDailyCap, "%s", p.Detail)
		now := a.kit.Clock.Now()
		full.RetryAfter = now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now) // counts are of days in UTC
		return full
	case problem.MailMailboxUnknown:
		if ended := a.ended(ctx, m, problem.MailboxExpired); ended != nil {
			return ended
		}
		return problem.New(problem.ServerUnavailable)
	case problem.MailDomainNotServed, problem.MailDomainSuspended, problem.MailStorageFull:
		return problem.Detailf(problem.ServerUnavailable, "%s", p.Title())
	}
	return err
}
