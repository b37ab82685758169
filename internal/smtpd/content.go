package smtpd

import (
	"bytes"
	"strconv"
	"time"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
)

func replyTooLarge() reply {
	r, _ := refusal(problem.New(problem.MailTooLarge))
	return r
}

func replyMalformed() reply {
	r, _ := refusal(problem.New(problem.MailMalformed))
	return r
}

// DATA (RFC 5321 §4.1.1.4).
func (s *session) data(arg []byte) reply {
	switch {
	case len(arg) > 0:
		return replyNoArgument
	case !s.tx.open:
		return replyMailFirst
	case s.tx.chunks.buffer != nil:
		return replyChunked
	case len(s.tx.to) == 0:
		return replyNoRecipient
	}
	defer s.reset()
	begun := s.srv.wall.Now()
	c, err := s.begin(max(s.tx.declared, min(s.last, trustedSize)))
	if err != nil {
		return s.refused("receive", err)
	}
	defer s.end(c)
	s.say(replyStartContent)
	u := unstuffer{limit: s.srv.cfg.MaxSize}
	r := s.received(c, &u)
	s.last = int64(len(c.b))
	s.concluded(r, u.size, begun)
	return r
}

// received reads a message and hands it over.
func (s *session) received(c content, u *unstuffer) reply {
	short, err := s.receive(c, u)
	switch {
	case err != nil:
		return s.broken(err)
	case u.size > s.srv.cfg.MaxSize:
		return replyTooLarge()
	case u.ends.malformed():
		return replyMalformed()
	case short != nil:
		return s.refused("receive", short)
	default:
		return s.deliver(c)
	}
}

// receive reads a message to its end, which it looks for even when the message cannot be taken: the client hears the reply only
// there, and what follows must not be mistaken for commands. An error in short says that there was no memory for the message.
func (s *session) receive(c content, u *unstuffer) (short, err error) {
	c.b = append(c.b, s.wire.take(inputSize)...)
	kept := 0
	for {
		n, rest, done := u.scan(c.b, kept)
		if done {
			s.wire.unread(rest)
			c.b = c.b[:n]
			return short, nil
		}
		kept = n
		c.b = append(c.b[:kept], rest...)
		if fault := s.grow(c); fault != nil {
			s.drop(c, rest)
			short, kept, u.limit = fault, 0, -1
		}
		got, err := s.wire.readContent(c.room())
		if err != nil {
			return short, err
		}
		c.extend(got)
	}
}

// BDAT (RFC 3030 §2). A chunk's octets are read whatever becomes of it, since the client has sent them before it hears a reply.
func (s *session) bdat(arg []byte) reply {
	size, last, ok := parseChunk(arg)
	if !ok {
		s.over, s.unheard = true, true
		return replyChunkSyntax
	}
	if r := s.chunkRefused(size); r != "" {
		if err := s.wire.skip(size); err != nil {
			return s.broken(err)
		}
		return r
	}
	if r := s.firstChunk(size); r != "" {
		return r
	}
	c := s.tx.chunks
	short, err := s.receiveChunk(c, size)
	switch {
	case err != nil:
		r := s.broken(err)
		s.concluded(r, int64(len(c.b)), s.tx.begun)
		return r
	case short != nil:
		defer s.reset()
		r := s.refused("receive", short)
		s.concluded(r, int64(len(c.b)), s.tx.begun)
		return r
	case !last:
		s.commands-- // a message has as many chunks as its sender likes
		return replyChunk
	}
	defer s.reset()
	r := replyMalformed()
	var ends lineEnds
	if ends.check(c.b); !ends.malformed() {
		r = s.deliver(c)
	}
	s.concluded(r, int64(len(c.b)), s.tx.begun)
	return r
}

// firstChunk acquires memory for the message that begins with a chunk of so many octets. It does nothing if the message has begun.
func (s *session) firstChunk(size int64) reply {
	if s.tx.chunks.buffer != nil {
		return ""
	}
	s.tx.begun = s.srv.wall.Now()
	c, err := s.begin(max(s.tx.declared, size))
	if err == nil {
		s.tx.chunks = c
		return ""
	}
	s.reset()
	if err := s.wire.skip(size); err != nil {
		return s.broken(err)
	}
	return s.refused("receive", err)
}

// chunkRefused says why a chunk cannot be taken, or "". A message that grows too large is over: the chunks that the client has sent
// after this one find no transaction.
func (s *session) chunkRefused(size int64) reply {
	var octets int64
	if s.tx.chunks.buffer != nil {
		octets = int64(len(s.tx.chunks.b))
	}
	switch {
	case !s.tx.open:
		return replyMailFirst
	case len(s.tx.to) == 0:
		return replyNoRecipient
	case size > s.srv.cfg.MaxSize-octets:
		s.reset()
		return replyTooLarge()
	default:
		return ""
	}
}

// receiveChunk reads a chunk. An error in short says that there was no memory for it; it has been read all the same.
func (s *session) receiveChunk(c content, size int64) (short, err error) {
	for size > 0 {
		if short = s.grow(c); short != nil {
			return short, s.wire.skip(size)
		}
		room := c.room()
		room = room[:min(size, int64(len(room)))]
		n := copy(room, s.wire.take(int64(len(room))))
		if n == 0 {
			if n, err = s.wire.readContent(room); err != nil {
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
	const digits = 18 // as many as int64 holds whatever they are
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

// broken ends a session whose content did not come in whole. Nothing that still comes is a command.
func (s *session) broken(err error) reply {
	s.fail("read of content", err)
	if isTimeout(err) {
		return replyTimeout
	}
	return replyLost
}

// deliver hands the message over, as soon as there is memory for that.
func (s *session) deliver(c content) reply {
	if err := s.cover(c, int64(cap(c.b))+s.srv.in.Memory(int64(len(c.b)))); err != nil {
		return s.refused("deliver", err)
	}
	env := &inbound.Envelope{
		From:       s.tx.from,
		To:         s.tx.to,
		Helo:       s.helo,
		RemoteIP:   s.ip,
		Protocol:   s.protocol(),
		TLS:        s.tls,
		ReceivedAt: s.srv.cfg.Clock.Now(),
		Memory:     c.lease,
	}
	if err := s.srv.in.Deliver(s.srv.base, env, c.b); err != nil {
		return s.refusedContent(err)
	}
	s.messages++
	s.commands, s.errors = 0, 0
	return reply("250 2.0.0 Message taken, trace " + s.trace + "." + strconv.Itoa(s.messages))
}

// refusedContent is the reply for a message that could not be delivered. A mailbox that is unknown now was there at RCPT: the sender is to
// try again, and to hear then which recipients have gone, so that the others get the message (docs/spec/smtp.md).
func (s *session) refusedContent(err error) reply {
	if p, ok := problem.From(err); ok && p.Code == problem.MailMailboxUnknown {
		return replyEnded
	}
	return s.refused("deliver", err)
}

// protocol is the "with" clause of Received (RFC 3848, RFC 6531 §4.3).
func (s *session) protocol() string {
	name := "ESMTP"
	switch {
	case !s.extended:
		return "SMTP"
	case s.tx.utf8:
		name = "UTF8SMTP"
	}
	if s.tls != "" {
		name += "S"
	}
	return name
}

// concluded tells log and metrics what became of a message.
func (s *session) concluded(r reply, octets int64, begun time.Time) {
	took := s.srv.wall.Now().Sub(begun)
	s.srv.cfg.Metrics.Message(r.outcome(), octets, took)
	s.logMessage(r, octets, len(s.tx.to), took)
}
