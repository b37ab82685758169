package ingress

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

// account is the kind imap: no requests belong to it, but a reader of the mailbox calls Service.Take.
type account struct{}

func (account) bodyMax(size int64) int64 { return size }

func (account) bounces() bool { return false }

// admit refuses every request.
func (account) admit(*Request) error { return problem.New(problem.IngressNotFound) }

// parse refuses every request.
func (account) parse(context.Context, *Request, []byte) (*mail, error) {
	return nil, problem.New(problem.IngressNotFound)
}

// Mail is a mail that was read from a mailbox elsewhere.
type Mail struct {
	ID       string // unique among the mails of the ingress
	From     string // the reverse-path
	To       []string
	Server   netip.Addr // of the mailbox
	Protocol string     // by which it was read
	Data     []byte
}

// Take stores a mail that was read from a mailbox elsewhere. lease covers its content and Memory of its size. Deferred means that the mail
// must stay there.
func (s *Service) Take(ctx context.Context, name string, m Mail, lease *budget.Lease) Outcome {
	taken := &mail{id: m.ID, from: m.From, to: m.To, protocol: m.Protocol, data: m.Data}
	if err := taken.check(); err != nil {
		p, _ := problem.From(err)
		_, _ = s.Refuse(ctx, name, p.Reason()) // no error: an ingress of this kind cannot return a refusal
		return Refused
	}
	receipt, err := s.store(ctx, s.all[name], &Request{Client: m.Server}, taken, lease)
	if err != nil {
		return Deferred
	}
	for _, r := range receipt.Recipients {
		if strings.HasPrefix(r.Reply, "2") {
			return Stored
		}
	}
	return Refused
}

// Fail records that the mailbox of an ingress could not be read, or why a mail in it was left there.
func (s *Service) Fail(name, reason string) {
	s.states.failed(name, s.Clock.Now(), reason)
	s.Observe(name, s.all[name].Kind, Unread)
}

// Lease takes or renews the right to read the mailbox of an ingress, for d; a d of 0 gives it back. It returns false while another process has it.
func (s *Service) Lease(ctx context.Context, name, holder string, d time.Duration) (bool, error) {
	return lease(ctx, s.DB, name, holder, s.Clock.Now(), d)
}
