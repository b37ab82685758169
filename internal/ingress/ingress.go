// Package ingress receives mail that comes otherwise than over SMTP: as an HTTP request of a mail provider or of a worker that the
// operator runs (docs/spec/ingress.md). A mail takes the same way as one over SMTP: Submitter applies blocks, limits and quotas and stores
// it. Mail that is sent again is stored once.
//
// Each kind of ingress is a file with a type that implements kind: it authenticates a request and parses it into mails. Service does the
// rest, so that all kinds answer by the same rules: a mail is acknowledged only when it is on stable storage for every recipient that did
// not refuse it for good.
package ingress

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// The kinds of an ingress, as the configuration names them.
const (
	Raw        = "raw"
	Cloudflare = "cloudflare"
	Mailgun    = "mailgun"
	Postmark   = "postmark"
	SendGrid   = "sendgrid"
	SES        = "ses"
	IMAP       = "imap"
)

// Config is the configuration of an ingress.
type Config struct {
	Name      string
	Kind      string
	Secret    string
	Topic     string // of SES
	PublicKey string // of SendGrid, in base64
}

// Submitter takes a mail through what an SMTP session does with one.
type Submitter interface {
	// Submit returns the outcome for each recipient. Error: once.ErrRepeated.
	Submit(ctx context.Context, m smtpd.Submission) ([]smtpd.Disposition, error)
}

// Parts are the dependencies of a Service.
type Parts struct {
	DB        *db.DB
	Clock     clock.Clock
	Logger    *slog.Logger
	Once      *once.Store
	Submitter Submitter
	Client    *http.Client                       // fetches certificates and confirms subscriptions, for SES
	Roots     *x509.CertPool                     // by which these certificates are trusted; nil: those of the system
	Memory    func(size int64) int64             // what delivering a mail of that size takes
	MaxSize   int64                              // octets of a mail
	Observe   func(name, kind string, o Outcome) // is called with the outcome of each mail; nil: it is not called
}

// Outcome is what became of a mail. It is a label of the metrics.
type Outcome string

// The outcomes of a mail.
const (
	Stored    Outcome = "stored"    // for at least one recipient, and refused for good by the others
	Refused   Outcome = "refused"   // for good, by all recipients or whatever the recipient
	Deferred  Outcome = "deferred"  // it must be sent again
	Forbidden Outcome = "forbidden" // the request was not authenticated
	Unread    Outcome = "unread"    // a mailbox elsewhere, or a message in it, could not be read
)

// AllOutcomes returns each value of Outcome.
func AllOutcomes() []Outcome { return []Outcome{Stored, Refused, Deferred, Forbidden, Unread} }

// Request is an HTTP request to an ingress without its body.
type Request struct {
	Header http.Header
	Client netip.Addr // of the HTTP client
}

// mail is a mail with its envelope, as a kind has parsed it.
type mail struct {
	from     string
	to       []string
	client   netip.Addr // that sent the mail; the zero Addr: the provider does not say
	helo     string
	id       string // the provider's identifier, unique for each mail; "": it has none
	data     []byte
	protocol string // the "with" clause of Received; "": HTTP
	token    string // may be used for this mail alone; "": there is none
}

// kind authenticates and parses the requests of one kind of ingress. Its methods may be called by several goroutines.
type kind interface {
	// admit checks what the header alone shows, before the body is read. Error: auth.required, auth.invalid_token.
	admit(r *Request) error
	// parse checks the signature of a request, and returns its mail; nil: there is nothing to store. Errors: auth.invalid_token;
	// request.invalid, which refuses the mail for good; server.unavailable, also where the request does not contain the mail as it should
	// (unread), so that the provider sends it again once that is mended.
	parse(ctx context.Context, r *Request, body []byte) (*mail, error)
	// bodyMax returns how large the body of a request with a mail of size octets may be.
	bodyMax(size int64) int64
	// bounces reports whether a mail that is refused for good is answered with an error, so that the provider returns it to its sender.
	// Otherwise the request is acknowledged.
	bounces() bool
}

// ingress is a configured ingress.
type ingress struct {
	Config
	kind
}

// Service receives mail through the configured ingresses. It is safe for concurrent use.
type Service struct {
	Parts
	configs []Config
	all     map[string]*ingress
	states  *states
}

// New returns a Service. Flush must be called periodically.
func New(p Parts, all []Config) (*Service, error) {
	if p.Observe == nil {
		p.Observe = func(string, string, Outcome) {}
	}
	s := &Service{Parts: p, configs: all, all: make(map[string]*ingress, len(all)), states: newStates()}
	for _, c := range all {
		k, err := newKind(c, &s.Parts)
		if err != nil {
			return nil, fmt.Errorf("ingress.%s: %w", c.Name, err)
		}
		s.all[c.Name] = &ingress{c, k}
	}
	return s, nil
}

// newKind returns the kind of an ingress.
func newKind(c Config, p *Parts) (kind, error) {
	switch c.Kind {
	case Raw, Cloudflare:
		return signed{c, p.Clock}, nil
	case Mailgun:
		return mailgun{c, p.Clock}, nil
	case Postmark:
		return postmark{c}, nil
	case SendGrid:
		return newSendGrid(c, p.Clock)
	case SES:
		return newSES(c, p), nil
	case IMAP:
		return account{}, nil
	}
	return nil, fmt.Errorf("%q is no kind of an ingress", c.Kind)
}

// Receipt is what became of a mail that was acknowledged.
type Receipt struct {
	Recipients []Recipient `json:"recipients" nullable:"false" doc:"The recipients of the mail."`
}

// Recipient is what became of a mail for one recipient.
type Recipient struct {
	Address string `json:"address" doc:"The recipient." example:"ada@gonebox.localhost"`
	Reply   string `json:"reply" doc:"The reply that a mail server would get (RFC 5321): 250 where the mail is stored." example:"250 2.0.0 Message taken"`
}

// Admit checks what the header of a request shows, and returns the largest body that it may have. Errors: ingress.not_found,
// auth.required, auth.invalid_token.
func (s *Service) Admit(name string, r *Request) (bodyMax int64, err error) {
	in := s.all[name]
	if in == nil {
		return 0, problem.New(problem.IngressNotFound)
	}
	if err := in.admit(r); err != nil {
		s.Observe(in.Name, in.Kind, Forbidden)
		return 0, err
	}
	return in.bodyMax(s.MaxSize), nil
}

// MemoryFor returns the octets of memory that Receive takes for a body of size octets, beside the body.
func (s *Service) MemoryFor(size int64) int64 { return copies*size + s.Memory(size) }

// copies is how many times the size of a body is used while a mail is decoded from it, at most.
const copies = 3

// Receive receives the mail of a request that Admit has admitted. lease covers the body and MemoryFor of its size. It returns when the
// mail is on stable storage.
//
// Errors: auth.invalid_token; ingress.refused, if the mail is refused for good and the provider is to tell its sender;
// server.unavailable, if the mail must be sent again.
func (s *Service) Receive(ctx context.Context, name string, r *Request, body []byte, lease *budget.Lease) (Receipt, error) {
	in := s.all[name]
	m, err := in.parse(ctx, r, body)
	switch coding := r.Header.Get("Content-Encoding"); {
	case err == nil && m == nil:
		return Receipt{Recipients: []Recipient{}}, nil
	case err == nil && coding != "" && !strings.EqualFold(coding, "identity"):
		err = unread("the body has a Content-Encoding, and must be posted without one")
	case err == nil:
		err = s.checkToken(ctx, in, m)
	}
	if problem.Has(err, problem.RequestInvalid) {
		p, _ := problem.From(err)
		return s.Refuse(ctx, name, p.Reason())
	}
	if problem.Has(err, problem.AuthInvalidToken) {
		s.Observe(in.Name, in.Kind, Forbidden)
		return Receipt{}, err
	}
	if err != nil {
		return Receipt{}, s.unavailable(ctx, in, err, 0)
	}
	return s.store(ctx, in, r, m, lease)
}

// checkToken checks that the token of a mail was not used for another one. Error: auth.invalid_token.
func (s *Service) checkToken(ctx context.Context, in *ingress, m *mail) error {
	if m.token == "" {
		return nil
	}
	ok, err := s.Once.Use(ctx, once.NewKey("token", in.Name, m.token), once.NewKey("mail", in.Name, m.from, strings.Join(m.to, ","), string(m.data)))
	if err == nil && !ok {
		return problem.Detailf(problem.AuthInvalidToken, "the token was used for another mail or other recipients")
	}
	return err
}

// key identifies the mail of an ingress.
func (m *mail) key(ingress string) once.Key {
	if m.id != "" {
		return once.NewKey("mail id", ingress, m.id)
	}
	return once.NewKey("mail", ingress, m.from, string(m.data))
}

// store stores a mail for each recipient for which it is not stored yet.
func (s *Service) store(ctx context.Context, in *ingress, r *Request, m *mail, lease *budget.Lease) (Receipt, error) {
	key := m.key(in.Name)
	submission := smtpd.Submission{
		From: m.from, Client: m.client, Helo: cmp.Or(m.helo, "unknown"), Protocol: cmp.Or(m.protocol, "HTTP"), Source: message.SourceIngress, Once: &key,
		Data: canonical(m.data), Lease: lease,
	}
	if !m.client.IsValid() {
		submission.Client, submission.NoClient = r.Client, noClient
	}
	all, err := s.submit(ctx, submission, m.to)
	if err != nil {
		return Receipt{}, s.unavailable(ctx, in, err, 0)
	}
	return s.answer(ctx, in, all)
}

// noClient says in Authentication-Results why SPF was not checked.
const noClient = "the ingress does not pass the address of the client"

// again is how often a mail is submitted while other requests store the same mail.
const again = 4

// submit submits a mail to those recipients for which it was not stored before.
func (s *Service) submit(ctx context.Context, m smtpd.Submission, to []string) ([]smtpd.Disposition, error) {
	marks := make([]once.Mark, len(to))
	for i, address := range to {
		marks[i] = m.Once.Mark(smtpd.Path(address))
	}
	var err error
	for range again {
		var known map[once.Mark]bool
		if known, err = s.Once.Known(ctx, marks); err != nil {
			return nil, err
		}
		m.To = nil
		for i, address := range to {
			if !known[marks[i]] {
				m.To = append(m.To, address)
			}
		}
		var fresh []smtpd.Disposition
		if len(m.To) > 0 {
			if fresh, err = s.Submitter.Submit(ctx, m); errors.Is(err, once.ErrRepeated) {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		all := make([]smtpd.Disposition, 0, len(to))
		for i, address := range to {
			if known[marks[i]] {
				all = append(all, smtpd.Disposition{To: address, Number: 250, Code: "2.0.0", Text: "Message stored before"})
			} else {
				all, fresh = append(all, fresh[0]), fresh[1:]
			}
		}
		return all, nil
	}
	return nil, err
}

// answer returns the answer to a request from what became of its mail.
func (s *Service) answer(ctx context.Context, in *ingress, all []smtpd.Disposition) (Receipt, error) {
	receipt, stored, wait := Receipt{Recipients: []Recipient{}}, 0, time.Duration(0)
	var deferred, refused *smtpd.Disposition
	for i, d := range all {
		receipt.Recipients = append(receipt.Recipients, Recipient{Address: d.To, Reply: d.String()})
		switch {
		case d.Number < 400:
			stored++
		case d.Number < 500:
			deferred, wait = &all[i], max(wait, d.RetryAfter)
		default:
			refused = &all[i]
		}
	}
	switch {
	case deferred != nil:
		return Receipt{}, s.unavailable(ctx, in, errors.New(deferred.String()), wait)
	case stored == 0 && refused != nil:
		refusal, err := s.Refuse(ctx, in.Name, refused.String())
		refusal.Recipients = receipt.Recipients
		return refusal, err
	}
	s.states.stored(in.Name, s.Clock.Now())
	s.Observe(in.Name, in.Kind, Stored)
	return receipt, nil
}

// Refuse returns the answer to a request whose mail is refused for good: ingress.refused, or no error where the provider could do
// nothing with one.
func (s *Service) Refuse(ctx context.Context, name, reason string) (Receipt, error) {
	in := s.all[name]
	s.states.failed(in.Name, s.Clock.Now(), reason)
	s.Observe(in.Name, in.Kind, Refused)
	s.Logger.InfoContext(ctx, "mail refused by an ingress", "ingress", in.Name, "reason", reason)
	if in.bounces() {
		return Receipt{}, problem.Detailf(problem.IngressRefused, "%s", reason)
	}
	return Receipt{Recipients: []Recipient{}}, nil
}

// retryAfter is when a mail may be sent again where nothing else is known.
const retryAfter = 30 * time.Second

// unavailable records why a mail could not be stored now, and returns server.unavailable.
func (s *Service) unavailable(ctx context.Context, in *ingress, err error, wait time.Duration) error {
	s.states.failed(in.Name, s.Clock.Now(), oneLine(err))
	s.Observe(in.Name, in.Kind, Deferred)
	s.Logger.WarnContext(ctx, "mail deferred by an ingress", "ingress", in.Name, "error", err)
	const detail = "the mail is not stored, send it again"
	p := problem.Detailf(problem.ServerUnavailable, detail)
	if problem.Has(err, problem.ServerUnavailable) {
		why, _ := problem.From(err)
		p = problem.Detailf(problem.ServerUnavailable, detail+": %s", why.Reason())
	}
	p.RetryAfter = cmp.Or(wait, retryAfter)
	return p
}

// unread returns the error of a request that does not contain its mail, for a reason that says what to change.
func unread(reason string) error { return problem.Detailf(problem.ServerUnavailable, "%s", reason) }

// BrokeOff returns the answer to a request whose body did not arrive: server.unavailable. It is not recorded in the delivery log, since its sender is unknown.
func (s *Service) BrokeOff() error {
	p := problem.Detailf(problem.ServerUnavailable, "the body broke off or came too slowly; send the mail again")
	p.RetryAfter = retryAfter
	return p
}

// oneLine returns the text of an error on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
