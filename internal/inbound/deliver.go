package inbound

import (
	"cmp"
	"context"
	"net/netip"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailparse"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Deliver stores a mail for every recipient of its envelope, all or none. It returns a nil error only when the mail is on stable
// storage, so that the caller may reply 250. It reads data only during the call. The expensive work (parsing, DNS lookups,
// finding the code, compressing) runs on the caller's goroutine, before the mail joins a batch.
//
// Errors: those of Accept, since the mailbox may have expired or filled up in the meantime; server.unavailable where a
// retry may succeed; mail.storage_full where the disk is full; once.ErrRepeated if the mail was stored before for one of the recipients
// (Envelope.Once).
func (s *Service) Deliver(ctx context.Context, env *Envelope, data []byte) (Receipt, error) {
	m, err := s.prepare(ctx, env, data)
	if err != nil {
		return Receipt{}, s.problemOf(ctx, err)
	}
	env.Memory.Use(budget.Batch)
	if err := s.enqueue(ctx, m); err != nil {
		return Receipt{}, err // without release: the last batch may still be reading m
	}
	if m.err != nil {
		s.discard(ctx, m)
	}
	m.release()
	if m.err != nil {
		return Receipt{}, s.problemOf(ctx, m.err)
	}
	receipt := Receipt{Stored: m.stored(env), SinkMail: m.sinkMail}
	s.observeStored(env, receipt.Stored, m)
	s.logStored(ctx, m, len(data))
	return receipt, nil
}

// observeStored calls ObserveStored for each message of a mail.
func (s *Service) observeStored(env *Envelope, all []Stored, m *mail) {
	if s.ObserveStored == nil {
		return
	}
	source := cmp.Or(env.Source, message.SourceSMTP)
	for i, stored := range all {
		s.ObserveStored(env, stored, source, m.hasCode || m.deliveries[i].OTP != nil)
	}
}

// enqueue puts a mail on the queue and waits until its batch has been stored. Once the mail is queued, the end of ctx has
// no effect: the batch will be committed, and a sender that got an error reply would send the mail again.
func (s *Service) enqueue(ctx context.Context, m *mail) error {
	select {
	case s.queue <- m:
	case <-s.ended:
		return problem.New(problem.ServerUnavailable)
	case <-ctx.Done():
		return problem.New(problem.ServerUnavailable)
	}
	if len(s.queue) >= minConcurrent {
		select {
		case s.concurrent <- struct{}{}:
		default:
		}
	}
	select {
	case <-m.done:
		return nil
	case <-s.ended:
	}
	select {
	case <-m.done: // m was in the last batch of Run
		return nil
	default:
		return problem.New(problem.ServerUnavailable)
	}
}

// prepare does the work of a mail that needs no transaction: it parses and authenticates the mail, finds its code and encodes it. The
// caller must pass the result to enqueue, or release it.
func (s *Service) prepare(ctx context.Context, env *Envelope, data []byte) (*mail, error) {
	received := data
	data = mailauth.StripForged(data, s.Hostname)
	buf := buffer.Get(min(len(data), buffer.Max)) // parts that do not fit are decoded into memory of their own
	defer buffer.Put(buf)                         // nothing refers to it any more: encode copies the attachments
	parsed := mailparse.ParseIn((*buf)[:cap(*buf)], data)
	env.shrinkLease(received, data, parsed)
	verdicts := s.authenticate(ctx, env, parsed, data)
	content, links := s.content(env, parsed, verdicts, len(data))
	codes, err := s.filterCodes(ctx, env, &content, links)
	if err != nil {
		return nil, err
	}
	m := &mail{client: ratelimit.NetworkIdentity(env.RemoteIP), codes: codes, hasCode: content.OTP != nil, paths: make(map[string][]string, len(env.To)), done: make(chan struct{})}
	for _, r := range env.To {
		key := r.key()
		if _, duplicate := m.paths[key]; !duplicate {
			m.keys = append(m.keys, key)
		}
		m.paths[key] = append(m.paths[key], r.Address)
		if env.Once != nil {
			m.marks = append(m.marks, env.Once.Mark(r.Address))
		}
		m.addSinkAccount(r)
		m.project = r.project // the same for all of them
		m.record.Class = max(m.record.Class, r.rawFor)
	}
	if err := s.draftForSink(ctx, m, &content, env); err != nil {
		return nil, err
	}
	if err := s.encode(ctx, m, content, s.appendTrace(make([]byte, 0, traceSize), env, verdicts), data); err != nil {
		s.discard(ctx, m)
		m.release()
		return nil, err
	}
	return m, nil
}

// authenticate checks SPF, DKIM and DMARC. For an injected mail there is nothing to check: no server has sent it.
func (s *Service) authenticate(ctx context.Context, env *Envelope, parsed *mailparse.Message, data []byte) mailauth.Result {
	if env.Source == message.SourceInjected {
		return mailauth.Result{SPF: mailauth.None, DKIM: mailauth.None, DMARC: mailauth.None}
	}
	in := mailauth.Input{
		RemoteIP: env.RemoteIP, Helo: env.Helo, MailFrom: env.From, HeaderFrom: parsed.Author, ReceivedAt: env.ReceivedAt, Raw: data,
	}
	if env.NoClient != "" {
		in.RemoteIP = netip.Addr{}
	}
	r := s.Authenticator.Check(ctx, in)
	r.SPFReason = env.NoClient
	return r
}
