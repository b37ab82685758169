package inbound

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailparse"
	"github.com/gonebox/gonebox/internal/problem"
)

// Deliver stores a mail for every recipient of its envelope, all or none, and returns nil only when it is on stable
// storage: who hears nil may say 250. data is read only during the call. Whatever costs time (parsing, looking up the
// sender, finding the code, compressing) is done here, on the sender's own goroutine, before the mail joins a set.
//
// Errors: those of Accept, since a mailbox may have ended or filled since; server.unavailable where trying again helps, mail.storage_full where that
// takes room on the disk.
func (s *Service) Deliver(ctx context.Context, env *Envelope, data []byte) error {
	m, err := s.prepare(ctx, env, data)
	if err != nil {
		return s.failed(ctx, err)
	}
	env.Memory.Use(budget.Batch)
	if err := s.join(ctx, m); err != nil {
		return err // the last set may still be at work on it
	}
	if m.err != nil {
		s.discard(ctx, m)
	}
	m.release()
	if m.err == nil && s.Logger.Enabled(ctx, slog.LevelDebug) {
		s.Logger.DebugContext(ctx, "mail stored", "messages", m.messageIDs(), "bytes", len(data))
	}
	return s.failed(ctx, m.err)
}

// failed makes what the storage is to blame for the problem that the sender hears, and logs it.
func (s *Service) failed(ctx context.Context, err error) error {
	if !errors.Is(err, db.ErrUnavailable) {
		return err
	}
	if errors.Is(err, db.ErrFull) {
		s.Logger.WarnContext(ctx, "mail deferred, the disk is full", "error", err)
		return problem.New(problem.MailStorageFull)
	}
	s.Logger.ErrorContext(ctx, "mail could not be stored", "error", err)
	return problem.New(problem.ServerUnavailable)
}

// join puts a mail into a set and waits until the set is settled. Once it is in, its sender's going away changes nothing.
func (s *Service) join(ctx context.Context, m *mail) error {
	if s.SetMax == 1 {
		s.alone(m)
		return nil
	}
	select {
	case s.queue <- m:
	case <-s.ended:
		return problem.New(problem.ServerUnavailable)
	case <-ctx.Done():
		return problem.New(problem.ServerUnavailable)
	}
	select {
	case <-m.settled:
		return nil
	case <-s.ended:
	}
	select {
	case <-m.settled: // it was in the last set
		return nil
	default:
		return problem.New(problem.ServerUnavailable)
	}
}

func (s *Service) prepare(ctx context.Context, env *Envelope, data []byte) (*mail, error) {
	received := data
	data = mailauth.StripForged(data, s.Hostname)
	room := lend(&decoded, min(len(data), largestRoom)) // the parts of a large mail are decoded into memory of their own size
	defer giveBack(&decoded, room)                      // what is kept of attachments is a copy
	parsed := mailparse.ParseIn(*room, data)
	env.shrinkLease(received, data, parsed)
	verdicts := s.Authenticator.Check(ctx, mailauth.Input{
		RemoteIP: env.RemoteIP, Helo: env.Helo, MailFrom: env.From, HeaderFrom: author(parsed), Raw: data,
	})
	content, links := s.content(env, parsed, verdicts, len(data))
	codes, err := s.ownCodes(ctx, env, &content, links)
	if err != nil {
		return nil, err
	}
	m := &mail{codes: codes, paths: make(map[string][]string, len(env.To)), settled: make(chan struct{})}
	for _, r := range env.To {
		key := r.key()
		if _, again := m.paths[key]; !again {
			m.keys = append(m.keys, key)
		}
		m.paths[key] = append(m.paths[key], r.Address)
		m.record.Class = max(m.record.Class, r.rawFor)
	}
	if err := s.fill(ctx, m, content, s.trace(make([]byte, 0, traceRoom), env, verdicts), data); err != nil {
		s.discard(ctx, m)
		m.release()
		return nil, err
	}
	return m, nil
}

// author is the address that DMARC judges: none where a mail has several From fields (RFC 7489 §6.6.1).
func author(m *mailparse.Message) string {
	fields := 0
	for _, f := range m.Header {
		if strings.EqualFold(f.Name, "From") {
			fields++
		}
	}
	if fields != 1 {
		return ""
	}
	return m.From.Addr
}

// traceRoom is what the fields of trace take together for most mails.
const traceRoom = 1 << 10

// trace appends what this server puts in front of a mail (RFC 5321 §4.4, RFC 8601 §2).
func (s *Service) trace(t []byte, env *Envelope, verdicts mailauth.Result) []byte {
	put := func(texts ...string) {
		for _, text := range texts {
			t = append(t, text...)
		}
	}
	put("Return-Path: <", env.From, ">\r\n")
	put("Authentication-Results: ", s.Authenticator.Header(verdicts), "\r\n")
	put("Received: from ", printable(env.Helo), " (", literal(env), ")\r\n\tby ", s.Hostname, " with ", env.Protocol)
	if env.TLS != "" {
		put(" (", env.TLS, ")")
	}
	put("\r\n\tid ", string(id.New[id.Event](env.ReceivedAt)[len("evt_"):]))
	if len(env.To) == 1 { // with more, "for" would tell one recipient of another
		put(" for <", env.To[0].Address, ">")
	}
	put(";\r\n\t")
	return append(env.ReceivedAt.UTC().AppendFormat(t, time.RFC1123Z), "\r\n"...)
}

// printable is a client's name as it can stand in a field: what no domain and no address literal has becomes a '?', so
// that a client cannot write clauses and comments of its own into the trace.
func printable(helo string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(".-_:[]", r):
			return r
		}
		return '?'
	}, helo)
}

// literal is the client's address as RFC 5321 §4.1.3 writes it.
func literal(env *Envelope) string {
	if env.RemoteIP.Is6() {
		return "[IPv6:" + env.RemoteIP.String() + "]"
	}
	return "[" + env.RemoteIP.String() + "]"
}
