package smtpd

import (
	"context"
	"fmt"
	"net/netip"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/once"
)

// Submission is a whole mail with its envelope that did not come over a connection of the server.
type Submission struct {
	From     string     // the reverse-path; "" is the null reverse-path
	To       []string   // forward-paths
	Client   netip.Addr // of the client that sent the mail, or of what handed it on: see NoClient
	NoClient string     // why the client is not known (inbound.Envelope.NoClient); "": it is Client
	Helo     string     // the name of Client
	Protocol string     // the "with" clause of Received
	Source   string     // as a value of message.Summary.Source
	Once     *once.Key  // identifies a mail that may be sent again; nil: the mail is stored each time

	Data  []byte        // the content; it is read only during Submit
	Lease *budget.Lease // covers Data and what the Inbound's Memory returns for its size
}

// Disposition is the outcome of a mail for one recipient of a Submission.
type Disposition struct {
	To     string // the forward-path, as given
	Number int    // the three digits of the SMTP reply: 2yz if the mail is stored, 4yz if it may be sent again
	Code   string // the enhanced status code of the reply (RFC 3463)
	Text   string // its text

	RetryAfter time.Duration // of a 4yz reply, if it is known when to send again; else 0
}

// Submit takes a mail through what a session does with one: blocks, limits, blocklists, recipients, delivery, the reports of Config. It
// returns the outcome for each recipient, in order. A recipient that is refused does not affect the others.
//
// Error: once.ErrRepeated, if the mail was stored before for one of the recipients. Then the marks of the mail tell for which it is stored
// now.
func (s *Server) Submit(ctx context.Context, m Submission) (all []Disposition, err error) {
	ss := &session{srv: s, trace: newTrace(), client: s.newClient(m.Client), helo: m.Helo, extended: true, release: func() {}, submission: &m}
	ss.base = inbound.WithClient(ctx, m.Client)
	ss.connected = ss.client
	replies := make([]reply, len(m.To))
	defer func() {
		if fault := recover(); fault != nil { // as a panic in a session ends only that
			ss.logFault("submission panicked", fault, string(debug.Stack()))
			all, err = dispositions(m.To, slices.Repeat([]reply{replyFault}, len(m.To)), 0), nil
		}
	}()
	if r, wait := ss.beginSubmission(); r != "" {
		for i, to := range m.To {
			replies[i] = r
			ss.reportTextAttempt(r, to)
		}
		return dispositions(m.To, replies, wait), nil
	}
	accepted := make([]string, len(m.To)) // the addresses of recipients that were accepted
	for i, to := range m.To {
		replies[i], accepted[i] = ss.submitRecipient(to)
	}
	if len(ss.tx.to) > 0 {
		outcomes, err := ss.deliverEach(ctx, m.Data, m.Lease)
		if err != nil {
			return nil, err
		}
		for i, to := range accepted {
			if to != "" {
				replies[i] = outcomes[to]
			}
		}
	}
	return dispositions(m.To, replies, 0), nil
}

// beginSubmission does what a session does before it asks for recipients. It returns the reply to a mail that is refused for all of them,
// and how long to wait if that is known.
func (s *session) beginSubmission() (r reply, wait time.Duration) {
	m, from := s.submission, address{}
	if r := s.checkClient(); r != "" {
		return r, s.blockedFor()
	}
	if m.From != "" {
		path, ok := parseWholePath(m.From)
		if !ok || !path.isComplete() {
			return replySenderSyntax, 0
		}
		from = path
	}
	s.tx = transaction{open: true, from: from.String(), utf8: true}
	if r := s.checkSender(s.tx.from, from.domain); r != "" {
		return r, 0
	}
	if !s.unlimited {
		if wait, ok := s.srv.cfg.AllowMessage(s.ip); !ok {
			return tooManyMessages(wait), wait
		}
	}
	var ends lineEnds
	switch ends.check(m.Data); {
	case int64(len(m.Data)) > s.srv.cfg.MaxSize:
		return replyTooLarge(), 0
	case ends.malformed(false):
		return replyMalformed(), 0
	}
	return "", 0
}

// submitRecipient returns the reply to a forward-path, and the address of the recipient if it was accepted.
func (s *session) submitRecipient(path string) (r reply, accepted string) {
	to, ok := parseWholePath(path)
	switch {
	case !ok || !to.isComplete() && !to.isPostmaster():
		return replyRcptAddress, ""
	case len(s.tx.to) >= s.srv.cfg.MaxRecipients:
		s.reportPathAttempt(replyRecipients, s.tx.from, to)
		return replyRecipients, ""
	}
	if r = s.accept(to, rcptParameters{}); r == replyRecipient {
		accepted = to.String()
	}
	return r, accepted
}

// parseWholePath parses a path that is given without brackets or with them.
func parseWholePath(path string) (address, bool) {
	if len(path) < 2 || path[0] != '<' || path[len(path)-1] != '>' {
		path = "<" + path + ">"
	}
	a, rest, ok := parsePath([]byte(path))
	return a, ok && len(rest) == 0 && !slices.ContainsFunc([]byte(path), func(c byte) bool { return c < ' ' || c == 0x7f })
}

// reportTextAttempt is reportAttempt for a forward-path that was refused before it was parsed.
func (s *session) reportTextAttempt(r reply, path string) {
	if to, ok := parseWholePath(path); ok && (to.isComplete() || to.isPostmaster()) {
		s.reportPathAttempt(r, s.submission.From, to)
	}
}

// isAnonymous reports whether the client of a submission is not known: then its address is that of a relay for many clients.
func (s *session) isAnonymous() bool { return s.submission != nil && s.submission.NoClient != "" }

// dispositions returns the outcomes that replies stand for. wait is when to send again, if that is known.
func dispositions(to []string, replies []reply, wait time.Duration) []Disposition {
	all := make([]Disposition, len(to))
	for i, r := range replies {
		all[i] = Disposition{To: to[i]}
		all[i].Number, all[i].Code, all[i].Text = r.parts()
		if r[0] == '4' {
			all[i].RetryAfter = wait
		}
	}
	return all
}

// String returns the reply in one line.
func (d Disposition) String() string { return fmt.Sprintf("%d %s %s", d.Number, d.Code, d.Text) }

// Path returns a forward-path, given with or without brackets, in the form in which the Inbound gets it: without brackets and source
// route. It returns a text that is no path as it is.
func Path(text string) string {
	if a, ok := parseWholePath(text); ok {
		return a.String()
	}
	return text
}
