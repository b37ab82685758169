package outbound

import (
	"context"
	"encoding/hex"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
)

// Run sends mail until ctx ends, and then waits for the tries in progress, up to Parts.Grace. A try that is cut off counts as not
// made. Processes that share a database may all call it; each mail is claimed by one of them.
func (s *Service) Run(ctx context.Context) { s.queue.Run(ctx, s.work) }

// work makes one try to send a mail. It implements job.Work: it returns nil if the try could not be made for a reason that is not the
// relay's.
func (s *Service) work(ctx context.Context, j job.Job) job.Settle {
	o, err := get(ctx, s.DB, id.Outgoing(j.Payload))
	if err != nil {
		s.Logger.Error("reading outgoing mail failed", "mail", j.Payload, "error", err)
		return nil
	}
	if o == nil { // its account is gone
		return func(context.Context, *db.Tx) (job.Verdict, error) { return job.Done(), nil }
	}
	began := s.Clock.Now()
	if !began.Before(o.expiresAt) {
		return s.end(ctx, o, j, result{reply: 554, code: "5.4.7", reason: "given up: the relay has not taken the mail in time", final: true, expired: true}, 0)
	}
	r, err := s.send(ctx, o.To, s.reader(o))
	if ctx.Err() != nil && !r.isSent() { // cut off by the shutdown
		return nil
	}
	if err != nil {
		s.Logger.Error("reading outgoing mail failed", "mail", o.id, "error", err)
		return nil
	}
	return s.end(ctx, o, j, r, s.Clock.Now().Sub(began))
}

// reader returns a function that returns the parts of a mail, one after the other, and then io.EOF.
func (s *Service) reader(o *outgoing) func(context.Context) ([]byte, error) {
	number := -1
	return func(ctx context.Context) ([]byte, error) {
		if number++; number == 0 {
			return s.sealer.Open(o.head, string(o.id))
		}
		octets, err := chunk(ctx, s.DB, o.id, number-1)
		if err == nil && octets == nil {
			err = io.EOF
		}
		return octets, err
	}
}

// end records the outcome of a try, and returns what happens to the mail: it is deleted once it was sent, refused or given up.
func (s *Service) end(ctx context.Context, o *outgoing, j job.Job, r result, took time.Duration) job.Settle {
	retryAt := s.Clock.Now().Add(s.pause(j.Attempt))
	if retryAt.After(o.expiresAt) {
		retryAt = o.expiresAt // when it is given up
	}
	s.record(ctx, o, j, r, took)
	return func(ctx context.Context, tx *db.Tx) (job.Verdict, error) {
		if !r.isSent() && !r.final {
			return job.Retry(retryAt), nil
		}
		return job.Done(), deleteTx(ctx, tx, o.id)
	}
}

// pause returns how long to wait after a try, from 1.
func (s *Service) pause(attempt int) time.Duration {
	return s.Policy.Retries[min(attempt, len(s.Policy.Retries))-1]
}

// record writes the line of the log and the entry of the delivery log. The log names no address: for the recipient it has the hash
// that lines of received mail have. There is no entry for a release whose mailbox was erased during the try, which may take minutes:
// it would keep the recipient that the owner chose.
func (s *Service) record(ctx context.Context, o *outgoing, j job.Job, r result, took time.Duration) {
	hash := s.Deliveries.Hash(strings.ToLower(o.To))
	outcome, line := r.outcome()
	s.Observe(outcome)
	s.Logger.Info(line, "mail", o.id, "purpose", o.Purpose, "recipient", hex.EncodeToString(hash[:8]), "domain", o.To[strings.LastIndexByte(o.To, '@')+1:],
		"attempt", j.Attempt, "reply", strconv.Itoa(r.reply)+" "+r.code, "took", took)
	e := deliverylog.Entry{
		At: s.Clock.Now(), From: s.From.Address, RemoteIP: r.remote, Helo: s.Relay.Host, TLS: r.tls, Reply: r.reply, Code: r.code,
		Reason: r.reason, Message: o.Message,
	}
	if !e.RemoteIP.IsValid() {
		e.RemoteIP = netip.IPv4Unspecified()
	}
	address := strings.ToLower(o.To)
	if o.Mailbox != "" {
		var err error
		if address, err = s.Address(context.WithoutCancel(ctx), o.Mailbox); address == "" || err != nil {
			return
		}
		e.HasMailbox, e.Mailbox, e.Recipient = true, o.Mailbox, o.To
	} else {
		e.Reason = withoutAddress(e.Reason, o.To)
	}
	s.Deliveries.Record(address, Kind+" "+string(o.Account), e)
}

// withoutAddress removes an address from a text: the delivery log holds hashes of addresses alone.
func withoutAddress(text, address string) string {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // some character has another length in lower case
		text = lower
	}
	for {
		i := strings.Index(lower, strings.ToLower(address))
		if i < 0 {
			return text
		}
		text, lower = text[:i]+"…"+text[i+len(address):], lower[:i]+"…"+lower[i+len(address):]
	}
}
