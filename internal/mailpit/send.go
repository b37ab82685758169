package mailpit

import (
	"encoding/base64"
	"io"
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
	"github.com/gonebox/gonebox/internal/sink"
)

// outgoing is a message to deliver: the body of POST /api/v1/send. The names of its members are matched regardless of case.
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

// Bounds of an outgoing message.
const (
	recipientsMax = 100
	tagsMax       = 100
	tokensMax     = 16 << 10 // names, values and brackets of the JSON: some 1,000 attachments and header fields
	addressMax    = 320      // octets of an address (RFC 5321 §4.5.3.1)
	valueMax      = 64 << 10 // octets of the value of a header field, and of a name
)

// send delivers a message to the sink, as if it had been received over SMTP.
func (a *API) send(w http.ResponseWriter, r *http.Request) {
	mail, err := a.sent(r)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, struct{ ID id.SinkMail }{mail})
}

// sent reads the body of a request and delivers it. The lease covers the body and what it is decoded into, then the message
// that is made of it, and what delivering takes. Errors: those of httpkit.Kit.ReadJSON, validate and deliver.
func (a *API) sent(r *http.Request) (id.SinkMail, error) {
	const encodingFactor = 2 // base64 and JSON make the body larger than the message
	var o outgoing
	lease, err := a.kit.ReadJSON(r.Context(), r, &o, httpkit.JSONBounds{
		Octets: a.SendMax * encodingFactor, Tokens: tokensMax,
		Memory: func(n int64) int64 {
			n = min(n, a.SendMax)
			return n + a.Inbound.Memory(n)
		},
	})
	if err != nil {
		return "", err
	}
	defer lease.Release()
	if err := o.validate(); err != nil {
		return "", err
	}
	if err := r.Context().Err(); err != nil { // the client has disconnected
		return "", err
	}
	return a.deliver(r, &o, lease)
}

// decoder returns a reader of the content.
func (f outgoingFile) decoder() io.Reader {
	return base64.NewDecoder(base64.StdEncoding, strings.NewReader(f.Content))
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
		if len(p.Email) > addressMax || len(p.Name) > valueMax {
			return problem.Invalid("/To", "an address or a name is too long")
		}
		// ParseAddress also accepts an address with a name, so its result must be equal to the input.
		if parsed, err := mail.ParseAddress(p.Email); err != nil || !strings.EqualFold(parsed.Address, p.Email) || !isOneLine(p.Email+p.Name) {
			return problem.Invalid("/To", "%.100q is not an address", p.Email)
		}
	}
	if n := len(o.To) + len(o.Cc) + len(o.Bcc); n == 0 || n > recipientsMax {
		return problem.Invalid("/To", "must have 1 to %d recipients, together with Cc and Bcc", recipientsMax)
	}
	for name, value := range o.Headers {
		if len(name)+len(value) > valueMax || !isFieldName(name) || !isOneLine(value) {
			return problem.Invalid("/Headers", "%.40q is not a header field of one line, or is too long", name)
		}
	}
	if len(o.Subject) > valueMax || !isOneLine(o.Subject) {
		return problem.Invalid("/Subject", "must be one line of at most %d octets", valueMax)
	}
	if len(o.Tags) > tagsMax || len(strings.Join(o.Tags, "")) > valueMax || !isOneLine(strings.Join(o.Tags, "")) {
		return problem.Invalid("/Tags", "must have at most %d tags, each of one line", tagsMax)
	}
	for _, f := range o.Attachments {
		if len(f.Filename)+len(f.ContentType)+len(f.ContentID) > valueMax || !isOneLine(f.Filename+f.ContentType+f.ContentID) {
			return problem.Invalid("/Attachments", "a name or a type is not one line, or is too long")
		}
		if _, err := io.Copy(io.Discard, f.decoder()); err != nil {
			return problem.Invalid("/Attachments", "the content of %.40q is not base64", f.Filename)
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
// recipient is rejected, the message is not stored for any. lease has the meaning of inbound.Envelope.Memory. Errors:
// request.invalid, request.too_large, server.unavailable.
func (a *API) deliver(r *http.Request, o *outgoing, lease *budget.Lease) (id.SinkMail, error) {
	client := httpkit.ClientAddr(r.Context())
	ctx := inbound.WithClient(r.Context(), client)
	env := &inbound.Envelope{From: o.From.Email, Helo: "mailpit-api", RemoteIP: client, Protocol: "HTTP", ReceivedAt: a.HTTP.Clock.Now(), Memory: lease}
	env.Username, _, _ = r.BasicAuth()
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
			return "", problem.Invalid("/To", "%.320s: %s", address, p.Title())
		}
		env.To = append(env.To, recipient)
	}
	data := o.compose(env.ReceivedAt, a.Hostname)
	*o = outgoing{} // delivering takes memory, which the lease does not have for both
	if int64(len(data)) > a.SendMax {
		return "", problem.New(problem.RequestTooLarge)
	}
	receipt, err := a.Inbound.Deliver(ctx, env, data)
	if err != nil {
		return "", err
	}
	if receipt.SinkMail == "" { // it was delivered, but this API cannot list it
		return "", problem.Invalid("/To", "no recipient is in a domain of the sink")
	}
	return receipt.SinkMail, nil
}

// formatTags returns the value of the field X-Tags. A tag is of ASCII and without commas.
func formatTags(tags []string) string {
	var clean []string
	for _, t := range tags {
		if t = sink.CleanTag(t); t != "" {
			clean = append(clean, t)
		}
	}
	return strings.Join(clean, ",\r\n ")
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
		{"X-Tags", formatTags(o.Tags)},
	}
	position := make(map[string]int, len(all)+len(o.Headers))
	for i, f := range all {
		position[f.name] = i
	}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		if strings.HasPrefix(key, "Content-") || key == "Mime-Version" || key == "Bcc" {
			continue // compose generates the fields that describe the content, and Bcc must not be sent to recipients
		}
		f := field{key, encodeHeader(o.Headers[name])}
		if i, found := position[key]; found {
			all[i] = f
			continue
		}
		position[key] = len(all)
		all = append(all, f)
	}
	return slices.DeleteFunc(all, func(f field) bool { return f.value == "" })
}
