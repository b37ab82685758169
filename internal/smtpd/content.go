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
	case s.tx.chunks != nil:
		return replyChunked
	case len(s.tx.to) == 0:
		return replyNoRecipient
	}
	defer s.reset()
	begun := s.srv.wall.Now()
	content := s.srv.buffers.get(max(s.tx.declared, s.last))
	defer s.srv.buffers.put(content)
	s.say(replyStartContent)
	u := unstuffer{limit: s.srv.cfg.MaxSize}
	var r reply
	switch err := s.receive(content, &u); {
	case err != nil:
		r = s.broken(err)
	case u.tooLarge():
		r = replyTooLarge()
	case u.ends.malformed():
		r = replyMalformed()
	default:
		r = s.deliver(content.b)
	}
	s.last = int64(len(content.b))
	s.concluded(r, u.size, begun)
	return r
}

// receive reads a message to its end, which it looks for even when the message cannot be taken: the client hears the reply only
// there, and what follows must not be mistaken for commands.
func (s *session) receive(content *buffer, u *unstuffer) error {
	content.b = append(content.b, s.wire.take(inputSize)...)
	kept := 0
	for {
		n, rest, done := u.scan(content.b, kept)
		if done {
			s.wire.unread(rest)
			content.b = content.b[:n]
			return nil
		}
		kept = n
		content.b = append(content.b[:kept], rest...)
		s.srv.buffers.grow(content)
		got, err := s.wire.readContent(content.room())
		if err != nil {
			return err
		}
		content.extend(got)
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
	if s.tx.chunks == nil {
		s.tx.chunks = s.srv.buffers.get(max(s.tx.declared, size))
		s.tx.begun = s.srv.wall.Now()
	}
	content := s.tx.chunks
	if err := s.receiveChunk(content, size); err != nil {
		r := s.broken(err)
		s.concluded(r, int64(len(content.b)), s.tx.begun)
		return r
	}
	if !last {
		s.commands-- // a message has as many chunks as its sender likes
		return replyChunk
	}
	defer s.reset()
	r := replyMalformed()
	var ends lineEnds
	if ends.check(content.b); !ends.malformed() {
		r = s.deliver(content.b)
	}
	s.concluded(r, int64(len(content.b)), s.tx.begun)
	return r
}

// chunkRefused says why a chunk cannot be taken, or "". A message that grows too large is over: the chunks that the client has sent
// after this one find no transaction.
func (s *session) chunkRefused(size int64) reply {
	var octets int64
	if s.tx.chunks != nil {
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

func (s *session) receiveChunk(content *buffer, size int64) error {
	for size > 0 {
		s.srv.buffers.grow(content)
		room := content.room()
		room = room[:min(size, int64(len(room)))]
		n := copy(room, s.wire.take(int64(len(room))))
		if n == 0 {
			var err error
			if n, err = s.wire.readContent(room); err != nil {
				return err
			}
		}
		content.extend(n)
		size -= int64(n)
	}
	return nil
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

// deliver hands the message over.
func (s *session) deliver(data []byte) reply {
	env := &inbound.Envelope{
		From:       s.tx.from,
		To:         s.tx.to,
		Helo:       s.helo,
		RemoteIP:   s.ip,
		Protocol:   s.protocol(),
		TLS:        s.tls,
		ReceivedAt: s.srv.cfg.Clock.Now(),
	}
	if err := s.srv.in.Deliver(s.srv.base, env, data); err != nil {
		return s.refused("deliver", err)
	}
	s.messages++
	s.commands, s.errors = 0, 0
	return reply("250 2.0.0 Message taken, trace " + s.trace + "." + strconv.Itoa(s.messages))
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
