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

// outgoing is the body of POST /api/v1/send. Names of members are matched without regard to case. Tags are accepted and
// ignored.
type outgoing struct {
	From        person
	To          []person
	Cc          []person
	Bcc         []string
	ReplyTo     []person
	Subject     string
	Text        string
	HTML        string
	Attachments []sentFile
	Headers     map[string]string
	Tags        []string
}

// person is a sender or recipient.
type person struct{ Email, Name string }

// sentFile is an attachment. With a ContentID it is inline: HTML refers to it as cid:.
type sentFile struct {
	Content     string // base64
	Filename    string
	ContentType string
	ContentID   string
}

// recipientsMax is the most recipients of a message that is sent.
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

// readOutgoing reads and checks the body, within the memory budget. A body without a length counts as the largest.
// Errors: request.too_large, request.invalid, server.unavailable.
func (a *API) readOutgoing(r *http.Request) (*outgoing, error) {
	const encoded, copies = 2, 4 // base64 and JSON take more than their content; the body, the parts and the message are in memory at once
	max := a.SendMax * encoded
	if r.ContentLength > max {
		return nil, problem.New(problem.RequestTooLarge)
	}
	size := r.ContentLength
	if size < 0 {
		size = max
	}
	if err := a.kit.Reserve(r.Context(), budget.Request, copies*size+pageOctets); err != nil {
		return nil, err
	}
	var o outgoing
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, max)).Decode(&o); err != nil {
		return nil, problem.Invalid("/body", "is not the JSON that the operation takes")
	}
	return &o, o.check()
}

// check validates every value that is written into the header, so that none can add a field. ParseAddress accepts more
// than an address, so the result must be equal to the input. Error: request.invalid.
func (o *outgoing) check() error {
	if o.From.Email == "" {
		return problem.Invalid("/From/Email", "must be an address")
	}
	all := slices.Concat([]person{o.From}, o.To, o.Cc, o.ReplyTo)
	for _, address := range o.Bcc {
		all = append(all, person{Email: address})
	}
	for _, p := range all {
		if parsed, err := mail.ParseAddress(p.Email); err != nil || !strings.EqualFold(parsed.Address, p.Email) || !oneLine(p.Email+p.Name) {
			return problem.Invalid("/To", "%q is not an address", p.Email)
		}
	}
	if n := len(o.To) + len(o.Cc) + len(o.Bcc); n == 0 || n > recipientsMax {
		return problem.Invalid("/To", "must have 1 to %d recipients, together with Cc and Bcc", recipientsMax)
	}
	for name, value := range o.Headers {
		if !isFieldName(name) || !oneLine(value) {
			return problem.Invalid("/Headers", "%q is not a header field of one line", name)
		}
	}
	if !oneLine(o.Subject) {
		return problem.Invalid("/Subject", "must be one line")
	}
	for _, f := range o.Attachments {
		if !oneLine(f.Filename + f.ContentType + f.ContentID) {
			return problem.Invalid("/Attachments", "a name or a type is not one line")
		}
		if _, err := base64.StdEncoding.DecodeString(f.Content); err != nil {
			return problem.Invalid("/Attachments", "the content of %q is not base64", f.Filename)
		}
	}
	return nil
}

// oneLine reports whether a text has no control characters except tabs: a line end would begin another header field.
func oneLine(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// isFieldName reports whether a text is the name of a header field (RFC 5322 §3.6.8).
func isFieldName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' })
}

// deliver stores a message for its recipients, as the SMTP server does. All recipients are checked before anything is
// stored: one that is refused refuses the message. A message without a recipient in the sink would be delivered but
// could not be shown, so that is an error. Errors: request.invalid, server.unavailable.
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
	if env.SinkMail == "" {
		return "", problem.Invalid("/To", "no recipient is in a domain of the sink")
	}
	return env.SinkMail, nil
}

// field is a header field.
type field struct{ name, value string }

// header returns the header fields of the message. A field in Headers replaces the generated field of the same name.
// Fields without a value are left out.
func (o *outgoing) header(at time.Time, hostname string) []field {
	all := []field{
		{"Date", at.Format(time.RFC1123Z)},
		{"From", joined([]person{o.From})},
		{"To", joined(o.To)},
		{"Cc", joined(o.Cc)},
		{"Reply-To", joined(o.ReplyTo)},
		{"Subject", encodedWord(o.Subject)},
		{"Message-Id", "<" + string(id.New[id.Event](at)) + "@" + hostname + ">"},
		{"Mime-Version", "1.0"},
	}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		if strings.HasPrefix(key, "Content-") || key == "Mime-Version" || key == "Bcc" {
			continue // generated from the content, never taken from the client
		}
		f := field{key, encodedWord(o.Headers[name])}
		if i := slices.IndexFunc(all, func(other field) bool { return other.name == key }); i >= 0 {
			all[i] = f
		} else {
			all = append(all, f)
		}
	}
	return slices.DeleteFunc(all, func(f field) bool { return f.value == "" })
}
