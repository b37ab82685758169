package smtpd

import (
	"context"
	"errors"
	"strings"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/once"
)

// deliverEach delivers a message and returns the reply for each recipient of the transaction, by its address. If a mailbox refuses it, it
// is delivered to each recipient on its own. It reports the outcomes. Error: once.ErrRepeated.
func (s *session) deliverEach(ctx context.Context, data []byte, lease *budget.Lease) (map[string]reply, error) {
	all, replies := s.tx.to, make(map[string]reply, len(s.tx.to))
	defer func() { s.tx.to = all }()
	refused, err := s.deliverTo(ctx, all, data, lease, replies)
	if err != nil || !refused {
		return replies, err
	}
	for i := range all {
		if _, err := s.deliverTo(ctx, all[i:i+1], data, lease, replies); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// deliverTo delivers a message to recipients and sets their replies. It returns true, and sets none, if a mailbox refused it that is not the
// only one.
func (s *session) deliverTo(ctx context.Context, to []inbound.Recipient, data []byte, lease *budget.Lease, replies map[string]reply) (refused bool, err error) {
	begun := s.srv.wall.Now()
	s.tx.to = to
	receipt, err := s.srv.in.Deliver(ctx, s.envelope(lease), data)
	if errors.Is(err, once.ErrRepeated) {
		return false, err
	}
	if isOfMailbox(err) && len(to) > 1 {
		return true, nil
	}
	s.tx.stored = receipt.Stored
	var r reply
	if err != nil {
		r = s.deliveryErrorReply(err)
	} else {
		s.messages++
		s.commands, s.errors = 0, 0
		r = s.taken()
	}
	took := s.srv.wall.Now().Sub(begun)
	if s.submission != nil {
		s.logMessage(r, int64(len(data)), len(to), took)
	}
	s.reportAttempts(r, took)
	for _, recipient := range to {
		replies[recipient.Address] = r
	}
	return false, nil
}

// deliverLMTP delivers a message of LMTP, and returns the best of the replies for its recipients.
func (s *session) deliverLMTP(c *content) (best reply) {
	s.tx.outcomes, _ = s.deliverEach(s.srv.base, c.octets(), c.lease) // nothing is stored once, so that there is no error
	for _, path := range s.tx.paths {
		if r := s.tx.outcomes[path]; best == "" || r[0] < best[0] {
			best = r
		}
	}
	return best
}

// replyForEach returns the reply to a message: with LMTP one for each RCPT command that was accepted, in their order (RFC 2033 §4.2).
func (s *session) replyForEach(r reply) reply {
	if !s.srv.cfg.LMTP || r.endsSession() {
		return r
	}
	all := make([]string, len(s.tx.paths))
	for i, path := range s.tx.paths {
		all[i] = string(r)
		if outcome, ok := s.tx.outcomes[path]; ok {
			all[i] = string(outcome)
		}
	}
	return reply(strings.Join(all, "\r\n"))
}
