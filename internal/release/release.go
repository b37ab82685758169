// Package release takes a message out of the service: it sends the raw message through the operator's relay to an address that the
// account of its mailbox has confirmed, or that the operator allows (docs/spec/relay.md#releasing-a-message).
//
// It decides who may release what and to whom; package outbound sends. Only one message to one recipient is released at a time, its
// octets stay as they were received, so that signatures stay valid, and Resent fields are put in front (RFC 5322 §3.6.6).
package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wildcard"
)

// Accounts knows the addresses of accounts.
type Accounts interface {
	// ConfirmedEmail returns the address that an account has confirmed by a code, "" if it has confirmed none.
	ConfirmedEmail(ctx context.Context, account id.Account) (string, error)
}

// Parts are the dependencies of a Service.
type Parts struct {
	Clock     clock.Clock
	Mailboxes *mailbox.Service
	Messages  *message.Service
	Accounts  Accounts
	Outbound  *outbound.Service // nil: there is no relay
	From      *mail.Address     // who resends; nil without a relay
	Hostname  string            // the right part of message identifiers
	Allow     []string          // patterns of addresses in lower case, with * for any characters
}

// Service releases messages. It is safe for concurrent use.
type Service struct{ Parts }

// New returns a Service.
func New(p Parts) *Service { return &Service{p} }

// Sender returns the address from which messages are released, "" without a relay.
func (s *Service) Sender() string {
	if s.Outbound == nil || s.From == nil {
		return ""
	}
	return s.From.Address
}

// Request is a message to release.
type Request struct {
	Mailbox id.Mailbox
	Message id.Message
	To      string // one address, as the client wrote it

	// Count counts the release against limits.release of an account, once it is allowed. Its error ends the call.
	Count func(id.Account) error
	// Reserve reserves memory until the call ends.
	Reserve func(octets int64) error
}

// Release stores a message for the relay and returns before anything is sent.
//
// Errors: relay.missing; relay.not_allowed, for a guest's mailbox, an address that is neither confirmed nor allowed, or a message that
// was released before and came back; request.invalid, for what is not one plain address; message.not_found, message.raw_expired;
// rate.limited, if too much of the account waits; server.unavailable; those of Count and Reserve.
func (s *Service) Release(ctx context.Context, r Request) error {
	if s.Outbound == nil {
		return missing()
	}
	box, err := s.Mailboxes.Get(ctx, r.Mailbox)
	if err != nil {
		return err
	}
	if box == nil {
		return problem.New(problem.MessageNotFound)
	}
	account := box.Owner.Account
	if err := s.Check(ctx, account, r.To); err != nil {
		return err
	}
	raw, err := s.Messages.Raw(ctx, r.Mailbox, r.Message)
	if err != nil {
		return err
	}
	if err := r.Reserve(raw.Memory() + headerMax + outbound.StoreMemory); err != nil {
		return err
	}
	begin, err := readHeader(ctx, raw)
	if err != nil {
		return err
	}
	if err := s.checkLoop(begin); err != nil {
		return err
	}
	if err := r.Count(account); err != nil {
		return err
	}
	m := outbound.Mail{Account: account, Purpose: outbound.Release, To: r.To, Mailbox: r.Mailbox, Message: r.Message}
	return s.Outbound.Store(ctx, m, s.resent(r.To), func(ctx context.Context) ([]byte, error) {
		if first := begin; first != nil {
			begin = nil
			return withoutVerdicts(first), nil
		}
		return raw.Next(ctx)
	})
}

// readHeader reads a raw message to the end of its header, to headerMax at most, and whatever follows in the same chunk.
func readHeader(ctx context.Context, raw *message.Raw) (begin []byte, err error) {
	for len(begin) < headerMax && !bytes.Contains(begin, []byte("\r\n\r\n")) {
		octets, err := raw.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		begin = append(begin, octets...)
	}
	return begin, nil
}

// missing is the problem of a service without a relay.
func missing() error {
	return problem.Detailf(problem.RelayMissing, "the operator has set up no relay (relay.url), so that nothing is sent from here")
}

// Check checks whether messages of an account may be released to an address, without releasing one. The account is "" for
// mailboxes of guests. Errors: relay.missing, relay.not_allowed, request.invalid.
func (s *Service) Check(ctx context.Context, account id.Account, to string) error {
	switch {
	case s.Outbound == nil:
		return missing()
	case account == "":
		return problem.Detailf(problem.RelayNotAllowed, "messages in mailboxes without an account cannot be released")
	case !isPlain(to):
		return problem.Invalid("/to", "must be one plain address in ASCII, such as you@example.org, without a name and spaces")
	}
	to = strings.ToLower(to)
	for _, pattern := range s.Allow {
		if wildcard.Match(pattern, to) {
			return nil
		}
	}
	confirmed, err := s.Accounts.ConfirmedEmail(ctx, account)
	if err != nil {
		return err
	}
	if confirmed == "" || confirmed != to {
		return problem.Detailf(problem.RelayNotAllowed, "messages can be released to the account's e-mail address, once it is confirmed, and to those that the operator allows")
	}
	return nil
}

const (
	// localMax, domainMax and addressMax are the lengths of RFC 5321 §4.5.3.1, in octets.
	localMax, domainMax, addressMax = 64, 253, 254
	// hopsMax is how many Received fields a message may have: no path is longer, so that the message is in a loop
	// (RFC 5321 §6.3).
	hopsMax = 50
	// headerMax bounds what is looked at of a header.
	headerMax = 256 << 10
)

// isPlain reports whether a text is an address that every mail server reads alike. Quoted local parts, addresses of hosts, and the
// characters by which servers have routed mail onwards (% and !) or passed it to programs (|, /, a leading hyphen) are not allowed.
func isPlain(text string) bool {
	local, domain, found := strings.Cut(text, "@")
	return found && len(text) <= addressMax && len(local) <= localMax && len(domain) <= domainMax && !strings.HasPrefix(local, "-") &&
		isDotted(local, "_+-='&#~") && isDomain(domain)
}

// isDotted reports whether a text consists of parts between dots, none of them empty, with letters, digits and the characters in more.
func isDotted(text, more string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
		}) {
			return false
		}
	}
	return true
}

// isDomain reports whether a text is the name of a host (RFC 1123 §2.1), whose last label is not a number.
func isDomain(text string) bool {
	if !isDotted(text, "-") {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		const labelMax = 63
		if len(label) > labelMax || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	last := text[strings.LastIndexByte(text, '.')+1:]
	return strings.Trim(last, "0123456789") != ""
}

// resentTail ends the left part of the message identifiers of Resent fields, by which a released message that comes back is
// recognised.
const resentTail = ".release@"

// resent returns the fields that are put in front of a released message (RFC 5322 §3.6.6).
func (s *Service) resent(to string) []byte {
	now := s.Clock.Now()
	return fmt.Appendf(nil, "Resent-Date: %s\r\nResent-From: %s\r\nResent-To: %s\r\nResent-Message-ID: <%s%s%s>\r\n",
		now.UTC().Format(time.RFC1123Z), s.From, to, strings.TrimPrefix(string(id.New[id.Event](now)), "evt_"), resentTail, s.Hostname)
}

// checkLoop checks that a message was not released by this service before, and has not passed too many hosts. Error:
// relay.not_allowed.
func (s *Service) checkLoop(begin []byte) error {
	hops := 0
	for name, value := range fields(begin[:min(len(begin), headerMax)]) {
		switch {
		case strings.EqualFold(name, "Received"):
			hops++
		case strings.EqualFold(name, "Resent-Message-ID") && strings.Contains(strings.ToLower(value), resentTail+strings.ToLower(s.Hostname)+">"):
			return problem.Detailf(problem.RelayNotAllowed, "the message was released before and came back")
		}
	}
	if hops > hopsMax {
		return problem.Detailf(problem.RelayNotAllowed, "the message has passed %d hosts, so that it is in a loop", hops)
	}
	return nil
}
