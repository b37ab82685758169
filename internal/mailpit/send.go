package mailpit

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
)

// outgoing is a message to deliver: the body of POST /api/v1/send. The names of its members are matched regardless of case.
// Tags are accepted and ignored.
type outgoing struct {
	From        mailAddress
	To          []mailAddress
	Cc          []mailAddress
	Bcc         []string
	ReplyTo     []mailAddress
	Subject     string
	Text        string
	HTML        string
	Attachments []outgoingFile
	Headers     map[string]string
	Tags        []string
}

// mailAddress is a sender or recipient of an outgoing message.
type mailAddress struct{ Email, Name string }

// outgoingFile is an attachment of an outgoing message. If it has a ContentID it is inline: the HTML refers to it with a cid:
// URL.
type outgoingFile struct {
	Content     string // base64
	Filename    string
	ContentType string
	ContentID   string
}

// recipientsMax is the most recipients that an outgoing message may have.
const recipientsMax = 100

// send delivers a message to the sink, as if it had been received over SMTP.
func (a *API) send(w http.ResponseWriter, r *http.Request) {
	o, err := a.readOutgoing(r)
	var mail id.SinkMail
	if err == nil {
		mail, err = a.deliver(r, o)
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, struct{ ID id.SinkMail }{mail})
}

// readOutgoing reads and validates the body of a request. It reserves the memory first; a body of unknown length is assumed
// to have the largest one. Errors: request.too_large, request.invalid, server.unavailable.
func (a *API) readOutgoing(r *http.Request) (*outgoing, error) {
	const (
		encodingFactor = 2 // base64 and JSON make the body larger than the message
		copies         = 4 // the body, its parts and the message are in memory at the same time
	)
	maxLength := a.SendMax * encodingFactor
	if r.ContentLength > maxLength {
		return nil, problem.New(problem.RequestTooLarge)
	}
	size := r.ContentLength
	if size < 0 {
		size = maxLength
	}
	if err := a.kit.Reserve(r.Context(), budget.Request, copies*size+pageOctets); err != nil {
		return nil, err
	}
	var o outgoing
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxLength)).Decode(&o); err != nil {
		return nil, problem.Invalid("/body", "is not the JSON that the operation takes")
	}
	return &o, o.validate()
}

// validate checks every value that is written into the header of the message, so that no value can add a header field.
// Error: request.invalid.
func (o *outgoing) validate() error {
	if o.From.Email == "" {
		return problem.Invalid("/From/Email", "must be an address")
	}
	all := slices.Concat([]mailAddress{o.From}, o.To, o.Cc, o.ReplyTo)
	for _, address := range o.Bcc {
		all = append(all, mailAddress{Email: address})
	}
	for _, p := range all {
		// ParseAddress also accepts an address with a name, so its result must be equal to the input.
		if parsed, err := mail.ParseAddress(p.Email); err != nil || !strings.EqualFold(parsed.Address, p.Email) || !isOneLine(p.Email+p.Name) {
			return problem.Invalid("/To", "%q is not an address", p.Email)
		}
	}
	if n := len(o.To) + len(o.Cc) + len(o.Bcc); n == 0 || n > recipientsMax {
		return problem.Invalid("/To", "must have 1 to %d recipients, together with Cc and Bcc", recipientsMax)
	}
	for name, value := range o.Headers {
		if !isFieldName(name) || !isOneLine(value) {
			return problem.Invalid("/Headers", "%q is not a header field of one line", name)
		}
	}
	if !isOneLine(o.Subject) {
		return problem.Invalid("/Subject", "must be one line")
	}
	for _, f := range o.Attachments {
		if !isOneLine(f.Filename + f.ContentType + f.ContentID) {
			return problem.Invalid("/Attachments", "a name or a type is not one line")
		}
		if _, err := base64.StdEncoding.DecodeString(f.Content); err != nil {
			return problem.Invalid("/Attachments", "the content of %q is not base64", f.Filename)
		}
	}
	return nil
}

// isOneLine reports whether a text has no control characters except tabs. A line break would begin another header field.
func isOneLine(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// isFieldName reports whether a text is a valid name of a header field (RFC 5322 §3.6.8).
func isFieldName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' })
}

// deliver stores a message for its recipients, as the SMTP server does, and returns its identifier in the sink. If one
// recipient is rejected, the message is not stored for any. Errors: request.invalid, request.too_large, server.unavailable.
func (a *API) deliver(r *http.Request, o *outgoing) (id.SinkMail, error) {
	client := httpkit.ClientAddr(r.Context())
	ctx := inbound.WithClient(r.Context(), client)
	env := &inbound.Envelope{From: o.From.Email, Helo: "mailpit-api", RemoteIP: client, Protocol: "HTTP", ReceivedAt: a.HTTP.Clock.Now()}
	var addresses []string
	for _, p := range slices.Concat(o.To, o.Cc) {
		addresses = append(addresses, p.Email)
	}
	for _, address := range append(addresses, o.Bcc...) {
		recipient, err := a.Inbound.Accept(ctx, address)
		if err != nil {
			p, known := problem.From(err)
			if !known || p.Code == problem.ServerUnavailable {
				return "", err
			}
			return "", problem.Invalid("/To", "%s: %s", address, p.Title())
		}
		env.To = append(env.To, recipient)
	}
	data := o.compose(env.ReceivedAt, a.Hostname)
	if int64(len(data)) > a.SendMax {
		return "", problem.New(problem.RequestTooLarge)
	}
	if err := a.Inbound.Deliver(ctx, env, data); err != nil {
		return "", err
	}
	if env.SinkMail == "" { // it was delivered, but this API cannot list it
		return "", problem.Invalid("/To", "no recipient is in a domain of the sink")
	}
	return env.SinkMail, nil
}

// field is a header field.
type field struct{ name, value string }

// headerFields returns the header fields of the message, which is sent at the time at. A field in Headers replaces the
// generated field of the same name. Fields without a value are left out.
func (o *outgoing) headerFields(at time.Time, hostname string) []field {
	all := []field{
		{"Date", at.Format(time.RFC1123Z)},
		{"From", formatAddresses([]mailAddress{o.From})},
		{"To", formatAddresses(o.To)},
		{"Cc", formatAddresses(o.Cc)},
		{"Reply-To", formatAddresses(o.ReplyTo)},
		{"Subject", encodeHeader(o.Subject)},
		{"Message-Id", "<" + string(id.New[id.Event](at)) + "@" + hostname + ">"},
		{"Mime-Version", "1.0"},
	}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		if strings.HasPrefix(key, "Content-") || key == "Mime-Version" || key == "Bcc" {
			continue // compose generates the fields that describe the content, and Bcc must not be sent to recipients
		}
		f := field{key, encodeHeader(o.Headers[name])}
		if i := slices.IndexFunc(all, func(other field) bool { return other.name == key }); i >= 0 {
			all[i] = f
		} else {
			all = append(all, f)
		}
	}
	return slices.DeleteFunc(all, func(f field) bool { return f.value == "" })
}
