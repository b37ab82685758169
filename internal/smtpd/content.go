package smtpd

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
)

// replyTooLarge returns the reply to a message above Config.MaxSize.
func replyTooLarge() reply {
	r, _ := refusal(problem.New(problem.MailTooLarge))
	return r
}

// replyMalformed returns the reply to a message with a NUL, a bare CR or a bare LF.
func replyMalformed() reply {
	r, _ := refusal(problem.New(problem.MailMalformed))
	return r
}

// data runs DATA (RFC 5321 §4.1.1.4). The memory is acquired before 354 is sent, since after it the client sends
// without waiting.
func (s *session) data(arg []byte) reply {
	switch {
	case len(arg) > 0:
		return replyNoArgument
	case !s.tx.open:
		return replyMailFirst
	case s.tx.chunks != nil:
		return replyChunked
	case len(s.tx.to) == 0:
		return replyNoRecipient
	}
	defer s.reset()
	begun := s.srv.wall.Now()
	if r, done := s.faultAt(fault.AtData); done {
		s.reportAttempts(r, s.srv.wall.Now().Sub(begun))
		return r
	}
	c, err := s.newContent(max(s.tx.declared, min(s.lastSize, maxSizeGuess)))
	if err != nil {
		r := s.errorReply("receive", err)
		s.reportAttempts(r, s.srv.wall.Now().Sub(begun))
		return r
	}
	defer c.release()
	s.say(replyStartContent)
	u := unstuffer{limit: s.srv.cfg.MaxSize, bareLF: s.bareLF}
	r := s.receiveData(c, &u)
	s.lastSize = c.len()
	s.reportMessage(r, u.size, begun)
	return s.replyForEach(r)
}

// receiveData reads the message of a DATA command, delivers it and returns the reply. If the connection failed, nothing
// else matters. A wrong size or line end is reported rather than missing memory, since a retry would fail as well.
func (s *session) receiveData(c *content, u *unstuffer) reply {
	memoryErr, err := s.readData(c, u)
	s.record.content(u.size)
	switch {
	case err != nil:
		return s.contentErrorReply(err)
	case u.size > s.srv.cfg.MaxSize:
		return replyTooLarge()
	case u.ends.malformed(s.bareLF):
		return replyMalformed()
	case memoryErr != nil:
		return s.errorReply("receive", memoryErr)
	default:
		return s.deliver(c, u.ends.bareLF)
	}
}

// readData reads a message up to the line that ends it. It does so even when the message cannot be accepted: the
// client waits for a reply only after that line, and the rest of the message must not be mistaken for commands. A
// non-nil memoryErr says that there was no memory for the message, err that the connection failed.
func (s *session) readData(c *content, u *unstuffer) (memoryErr, err error) {
	*c.buf = append(*c.buf, s.wire.take(inputSize)...)
	kept := 0
	for {
		n, rest, done := u.scan(*c.buf, kept)
		if done {
			s.wire.unread(rest)
			*c.buf = (*c.buf)[:n]
			return memoryErr, nil
		}
		kept = n
		*c.buf = append((*c.buf)[:kept], rest...)
		if err := s.grow(c); err != nil {
			c.shrink(rest)
			// A negative limit makes u count the rest without keeping it.
			memoryErr, kept, u.limit = err, 0, -1
		}
		got, err := s.wire.readContent(c.free())
		if err != nil {
			return memoryErr, err
		}
		c.extend(got)
	}
}

// bdat runs BDAT (RFC 3030 §2). It reads the octets of a chunk even if it rejects the chunk, since the client sends
// them without waiting for a reply.
func (s *session) bdat(arg []byte) reply {
	size, last, ok := parseChunk(arg)
	if !ok {
		s.closing, s.linger = true, true
		return replyChunkSyntax
	}
	if r := s.checkChunk(size); r != "" {
		if err := s.wire.skip(size); err != nil {
			return s.contentErrorReply(err)
		}
		return r
	}
	if r := s.beginChunks(size); r != "" {
		return r
	}
	s.record.content(size)
	c := s.tx.chunks
	memoryErr, err := s.receiveChunk(c, size)
	switch {
	case err != nil:
		r := s.contentErrorReply(err)
		s.reportMessage(r, c.len(), s.tx.begun)
		return r
	case memoryErr != nil:
		defer s.reset()
		r := s.errorReply("receive", memoryErr)
		s.reportMessage(r, c.len(), s.tx.begun)
		return r
	case !last:
		s.commands-- // a message may have any number of chunks
		return replyChunk
	}
	defer s.reset()
	r := replyMalformed()
	var ends lineEnds
	if ends.check(c.octets()); !ends.malformed(s.bareLF) {
		r = s.deliver(c, ends.bareLF)
	}
	s.reportMessage(r, c.len(), s.tx.begun)
	return r
}

// beginChunks acquires memory for the message that begins with a chunk of size octets. It does nothing for a later chunk. It returns ""
// if the chunk can be read, otherwise the reply to the chunk, which it has discarded.
func (s *session) beginChunks(size int64) reply {
	if s.tx.chunks != nil {
		return ""
	}
	s.tx.begun = s.srv.wall.Now()
	r, done := s.faultAt(fault.AtData)
	if !done {
		c, err := s.newContent(max(s.tx.declared, size))
		if err == nil {
			s.tx.chunks = c
			return ""
		}
		r = s.errorReply("receive", err)
	}
	s.reportAttempts(r, 0)
	s.reset()
	if err := s.wire.skip(size); err != nil {
		return s.contentErrorReply(err)
	}
	return r
}

// checkChunk returns the reply to a chunk that must not be read into memory, or "" if it may be read. It resets the transaction of a
// message that becomes too large, so that further chunks, which the client may already have sent, are rejected as well.
func (s *session) checkChunk(size int64) reply {
	switch {
	case !s.tx.open:
		return replyMailFirst
	case len(s.tx.to) == 0:
		return replyNoRecipient
	case size > s.srv.cfg.MaxSize-s.tx.chunks.len():
		s.reportAttempts(replyTooLarge(), 0)
		s.reset()
		return replyTooLarge()
	default:
		return ""
	}
}

// receiveChunk reads a chunk. A non-nil memoryErr says that there was no memory for it, so that its octets were discarded; err says that
// the connection failed.
func (s *session) receiveChunk(c *content, size int64) (memoryErr, err error) {
	for size > 0 {
		if err := s.grow(c); err != nil {
			return err, s.wire.skip(size)
		}
		free := c.free()
		free = free[:min(size, int64(len(free)))]
		n := copy(free, s.wire.take(int64(len(free))))
		if n == 0 {
			if n, err = s.wire.readContent(free); err != nil {
				return nil, err
			}
		}
		c.extend(n)
		size -= int64(n)
	}
	return nil, nil
}

// parseChunk reads "chunk-size [SP LAST]".
func parseChunk(arg []byte) (size int64, last, ok bool) {
	const digits = 18 // any number of 18 digits fits an int64
	number, end, hasEnd := bytes.Cut(arg, []byte(" "))
	if hasEnd && !bytes.EqualFold(end, []byte("LAST")) {
		return 0, false, false
	}
	if len(number) > digits {
		return 0, false, false
	}
	size, ok = parseSize(number)
	return size, hasEnd, ok
}

// contentErrorReply returns the reply to a message during which reading failed. It ends the session, since what may still
// arrive is content and not a command. The client receives the reply if it has only closed its own side of the connection.
func (s *session) contentErrorReply(err error) reply {
	s.logConnError("read of content", err)
	if isTimeout(err) {
		return replyTimeout
	}
	return replyLost
}

// deliver delivers a message once there is memory for that, and returns the reply. It calls the Inbound on the
// session's goroutine, so a client waits until its own mail is stored. bareLF is the number of lines that end in LF, which end in
// CRLF when the Inbound gets them.
func (s *session) deliver(c *content, bareLF int64) reply {
	size, memory := c.len()+bareLF, int64(cap(*c.buf))
	if size > s.srv.cfg.MaxSize {
		return replyTooLarge()
	}
	if r, done := s.faultAt(fault.AtMessage); done {
		return r
	}
	if bareLF > 0 {
		memory += bufferFor(size)
	}
	if err := s.leaseForDelivery(c, memory+s.srv.in.Memory(size)); err != nil {
		return s.errorReply("deliver", err)
	}
	if bareLF > 0 {
		c.endLinesInCRLF(size)
	}
	if s.srv.cfg.LMTP {
		return s.deliverLMTP(c)
	}
	env := s.envelope(c.lease)
	receipt, err := s.srv.in.Deliver(s.srv.base, env, c.octets())
	if err != nil {
		return s.deliveryErrorReply(err)
	}
	s.tx.stored = receipt.Stored
	if s.record != nil {
		s.recorded = receipt.Stored
	}
	if s.tx.test != nil && len(s.tx.test.bounce) > 0 {
		s.bounceMail(env, c.octets())
	}
	s.messages++
	s.commands, s.errors = 0, 0
	return s.taken()
}

// envelope returns the envelope of the transaction. lease covers the memory of the content.
func (s *session) envelope(lease *budget.Lease) *inbound.Envelope {
	env := &inbound.Envelope{
		From:       s.tx.from,
		To:         s.tx.to,
		Helo:       s.heloName(),
		RemoteIP:   s.ip,
		Protocol:   s.protocol(),
		TLS:        s.tls,
		Username:   s.user,
		ReceivedAt: s.srv.cfg.Clock.Now(),
		Memory:     lease,
	}
	if s.srv.cfg.LMTP && s.ip == s.peer {
		env.NoClient = "the mail server in front does not name the client"
	}
	if m := s.submission; m != nil {
		env.Source, env.NoClient, env.Once, env.Protocol = m.Source, m.NoClient, m.Once, m.Protocol
	}
	return env
}

// taken returns the reply to a message that is stored, with the trace by which the log lists it.
func (s *session) taken() reply {
	return reply("250 2.0.0 Message taken, trace " + s.trace + "." + strconv.Itoa(s.messages))
}

// deliveryErrorReply returns the reply for a message that could not be delivered. A mailbox that is unknown now existed at RCPT, so the
// reply is temporary: when the sender tries again, RCPT rejects that mailbox alone, and the other recipients get the message
// (docs/spec/smtp.md#replies).
func (s *session) deliveryErrorReply(err error) reply {
	if p, ok := problem.From(err); ok && p.Code == problem.MailMailboxUnknown {
		return replyEnded
	}
	return s.errorReply("deliver", err)
}

// isOfMailbox reports whether an error of the Inbound is about one recipient, so that others may get the message.
func isOfMailbox(err error) bool {
	p, ok := problem.From(err)
	if err == nil || !ok {
		return false
	}
	switch p.Code {
	case problem.MailMailboxUnknown, problem.MailMailboxFull, problem.MailDailyCap, problem.MailAccountDisabled, problem.MailboxLimitReached,
		problem.MailDomainNotServed, problem.MailDomainSuspended:
		return true
	}
	return false
}

// protocol returns the "with" clause of Received (RFC 3848, RFC 6531 §4.3): ESMTPS after STARTTLS, for example. AUTH
// adds an A only in the session of a project, since other credentials are not checked.
func (s *session) protocol() string {
	name := "ESMTP"
	if s.srv.cfg.LMTP {
		name = "LMTP"
	}
	switch {
	case !s.extended:
		return "SMTP"
	case s.tx.utf8:
		name = "UTF8" + strings.TrimPrefix(name, "E")
	}
	if s.tls != "" {
		name += "S"
	}
	if s.project != nil {
		name += "A"
	}
	return name
}

// reportMessage logs and counts a message that was received or rejected, and reports it for each recipient. begun is when
// DATA or the first BDAT arrived.
func (s *session) reportMessage(r reply, octets int64, begun time.Time) {
	took := s.srv.wall.Now().Sub(begun)
	s.srv.cfg.Metrics.Message(r.outcome(), octets, took)
	s.logMessage(r, octets, len(s.tx.to), took)
	if s.tx.outcomes == nil { // otherwise each was reported when it was delivered
		s.reportAttempts(r, took)
	}
}
