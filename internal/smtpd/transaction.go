package smtpd

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// transaction is a mail transaction (RFC 5321 §3.3): the reverse-path, the recipients and the content. The zero value
// means that no transaction is open.
type transaction struct {
	open     bool                // MAIL was accepted
	from     string              // the reverse-path
	utf8     bool                // MAIL had the parameter SMTPUTF8
	declared int64               // octets in the parameter SIZE; 0: MAIL did not have it
	to       []inbound.Recipient // accepted ones, each once
	paths    []string            // the accepted ones by RCPT command, so that one that was named twice is there twice
	outcomes map[string]reply    // of LMTP, by path, once the message was delivered
	chunks   *content            // what BDAT commands have sent so far; nil before the first
	begun    time.Time           // when the first BDAT command arrived
	stored   []inbound.Stored    // what Deliver has stored; nil before
	test     *testMail           // what is known for faults; nil: nothing
	mixed    bool                // a recipient is of neither the sink nor a project, so that no fault concerns the content

	// The reply to MAIL and its reverse-path, if MAIL was refused because of the client, the sender or the size. A client that pipelines
	// commands sends RCPT as well, and these recipients are then reported with the reply.
	refused     reply
	refusedFrom string
}

// reset clears the transaction and forgets the client that XFORWARD named for it.
func (s *session) reset() {
	s.clear()
	s.client, s.forwarded, s.forwardFailed = s.connected, false, false
}

// clear clears the transaction and releases its memory. A client that XFORWARD named for the next transaction is kept.
func (s *session) clear() {
	s.tx.chunks.release()
	s.tx = transaction{}
}

// mail runs MAIL (RFC 5321 §4.1.1.2), which begins a transaction. It clears an open transaction even if it is refused
// itself, since the recipients that follow a refused MAIL must never be added to another message.
func (s *session) mail(arg []byte) reply {
	if s.helo == "" {
		return replyHelloFirst
	}
	if s.tx.chunks != nil {
		return replyChunked
	}
	s.clear()
	if r := s.beginMail(); r != "" {
		return r
	}
	from, rest, r := pathAfter("FROM:", arg, replyMailSyntax, replySenderSyntax)
	if r != "" {
		return r
	}
	if !from.isNull() && !from.isComplete() {
		return replySenderSyntax
	}
	p, r := mailParameters(rest, s.offersAuth(), s.takesDSN())
	sender := from.String()
	switch {
	case r != "":
		return r
	case from.utf8 && !p.utf8:
		return replyNeedsUTF8
	case p.size > s.srv.cfg.MaxSize:
		s.tx.refused, s.tx.refusedFrom = replyTooLarge(), sender
		return s.tx.refused
	}
	r = s.checkForwarded()
	if r == "" {
		r = s.checkSender(sender, from.domain)
	}
	if r != "" {
		s.tx.refused, s.tx.refusedFrom = r, sender
		return r
	}
	if !s.unlimited {
		if wait, ok := s.srv.cfg.AllowMessage(s.ip); !ok {
			return tooManyMessages(wait)
		}
	}
	if r, done := s.faultAtMail(sender); done {
		s.tx.refused, s.tx.refusedFrom = r, sender
		return r
	}
	s.tx = transaction{open: true, from: sender, utf8: p.utf8, declared: p.size, test: s.tx.test}
	if len(p.envelopeID) > 0 || p.full {
		test := s.test()
		test.full, test.envelopeID = p.full, string(p.envelopeID)
	}
	if s.record != nil {
		s.record.from = sender
	}
	return replySender
}

// checkSender returns the reply to a sender that the operator has blocked, otherwise "".
func (s *session) checkSender(sender string, domain []byte) reply {
	if !s.srv.cfg.Blocks.Sender(sender) {
		return ""
	}
	s.logBlocked(BlockedSender, replyBlockedSender, slog.String("senderDomain", string(domain)))
	return replyBlockedSender
}

// tooManyMessages returns the reply to MAIL beyond Config.AllowMessage. It ends the session.
func tooManyMessages(wait time.Duration) reply {
	return reply(fmt.Sprintf("421 4.7.0 Too many messages from your address, try again in %d seconds", seconds(wait)))
}

// rcpt runs RCPT (RFC 5321 §4.1.1.3), which adds a recipient. One that is refused does not affect the others.
func (s *session) rcpt(arg []byte) reply {
	switch {
	case !s.tx.open && s.tx.refused == "":
		return replyMailFirst
	case s.tx.chunks != nil:
		return replyChunked
	}
	to, rest, r := pathAfter("TO:", arg, replyRcptSyntax, replyRcptAddress)
	switch {
	case !s.tx.open:
		if r == "" {
			s.reportPathAttempt(s.tx.refused, s.tx.refusedFrom, to)
		}
		return replyMailFirst
	case r != "":
		return r
	case !to.isComplete() && !to.isPostmaster():
		return replyRcptAddress
	}
	p, r := parseRcptParameters(rest, s.takesDSN())
	if r != "" {
		return r
	}
	if to.utf8 && !s.tx.utf8 {
		s.reportPathAttempt(replyNeedsUTF8, s.tx.from, to)
		return replyNeedsUTF8
	}
	if len(s.tx.to) >= s.srv.cfg.MaxRecipients {
		s.reportPathAttempt(replyRecipients, s.tx.from, to)
		return replyRecipients
	}
	return s.accept(to, p)
}

// accept asks the Inbound for a recipient and returns the reply. The Inbound is asked first, since blocks and
// blocklists apply to the mailbox that an address stands for, and since mail to staff is exempt from blocklists.
func (s *session) accept(to address, p rcptParameters) reply {
	begun := s.srv.wall.Now()
	s.lookUpClient()
	recipient, err := s.srv.in.Accept(s.acceptContext(), to.String())
	if recipient.Domain != "" && s.srv.cfg.Blocks.Recipient(recipient.Key()) {
		s.srv.cfg.Metrics.Blocked(BlockedRecipient)
		s.reportAttempt(replyBlockedRecipient, s.tx.from, recipient, "", s.srv.wall.Now().Sub(begun))
		return replyBlockedRecipient
	}
	if r := s.listedReply(); r != "" && recipient.Domain != "" && !recipient.ForStaff() { // a listed client may ask why it is
		s.srv.cfg.Metrics.Blocked(BlockedByList)
		s.reportAttempt(r, s.tx.from, recipient, "", s.srv.wall.Now().Sub(begun))
		return r
	}
	if err != nil {
		r := s.recipientErrorReply(err)
		if recipient.Domain != "" { // the address is valid
			s.markRecipient(recipient)
			s.reportAttempt(r, s.tx.from, recipient, "", s.srv.wall.Now().Sub(begun))
		}
		return r
	}
	if r, done := s.faultAtRcpt(recipient, p); done {
		s.reportAttempt(r, s.tx.from, recipient, "", s.srv.wall.Now().Sub(begun))
		return r
	}
	known := func(r inbound.Recipient) bool { return r.Address == recipient.Address }
	s.tx.paths = append(s.tx.paths, recipient.Address)
	if !slices.ContainsFunc(s.tx.to, known) { // an address that is named twice is one recipient
		s.tx.to = append(s.tx.to, recipient)
		s.countRecipient(false)
	}
	return replyRecipient
}

// recipientErrorReply returns the reply for a recipient that the Inbound did not accept. Only one that is refused
// permanently counts against the client's address: it may be probing for mailboxes (docs/decisions/0043).
func (s *session) recipientErrorReply(err error) reply {
	r := s.errorReply("accept", err)
	if !r.isPermanent() {
		return r
	}
	s.countRecipient(true)
	if wait := s.blockedFor(); wait > 0 {
		s.srv.cfg.Metrics.Refused(ratelimit.SMTPRefused)
		return tooManyRefused(wait)
	}
	return r
}

// countRecipient counts a recipient of the client, unless the client is unlimited or not known.
func (s *session) countRecipient(refused bool) {
	if !s.unlimited && !s.isAnonymous() {
		s.srv.recipients.count(s.owner, refused)
	}
}

// blockedFor returns how long the client is blocked because of its refused recipients; 0: it is not.
func (s *session) blockedFor() time.Duration {
	if s.unlimited {
		return 0
	}
	return s.srv.recipients.blockedFor(s.owner)
}

// errorReply returns the reply for an error of the Inbound or of the budget. An error that is a fault of this server is
// logged here and nowhere else. Its reply contains the trace, by which the line in the log is found. operation names what
// failed.
func (s *session) errorReply(operation string, err error) reply {
	r, known := refusal(err)
	if !known {
		s.logFault(operation+" failed", err, "")
		r += reply(", trace " + s.trace)
	}
	return r
}

// pathAfter reads a keyword, in any letter case and with spaces behind it, as some clients write them, and the path
// that follows. It returns the path and what follows it, or one of the two replies for what is wrong.
func pathAfter(keyword string, arg []byte, wrongKeyword, invalidPath reply) (a address, rest []byte, r reply) {
	if len(arg) < len(keyword) || !bytes.EqualFold(arg[:len(keyword)], []byte(keyword)) {
		return address{}, nil, wrongKeyword
	}
	a, rest, ok := parsePath(bytes.TrimLeft(arg[len(keyword):], " "))
	if !ok {
		return address{}, nil, invalidPath
	}
	return a, rest, ""
}
