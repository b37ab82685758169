package smtpd

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
)

// Faults makes commands fail on purpose, for mail of the sink and of projects alone (docs/spec/faults.md). Its methods are called by many
// goroutines.
type Faults interface {
	// OwnerOf returns the account whose rules answer AUTH and MAIL of a client, whose recipients are not known yet; "": none answers AUTH,
	// and those for MAIL are tried at RCPT.
	OwnerOf(ctx context.Context, client netip.Addr) (id.Account, error)
	// Decide and Greylist are those of package fault.
	Decide(ctx context.Context, m *fault.Mail) (fault.Action, error)
	Greylist(ctx context.Context, m *fault.Mail, delay time.Duration) (bool, error)
	// Bounce delivers a report that a mail could not be delivered to its sender, if that is an address here.
	Bounce(ctx context.Context, b *Bounce) error
}

// Bounce is a mail that was taken and is reported as undeliverable.
type Bounce struct {
	Envelope *inbound.Envelope
	Failed   []Failed
	ID       string // ENVID, as given (RFC 3461 §4.4)
	Full     bool   // RET=FULL: the report has the whole message
	Data     []byte // valid during the call
}

// Failed is a recipient of a mail that could not be delivered to it.
type Failed struct {
	Address  string
	Original string // ORCPT, as given (RFC 3461 §4.2)
	notify   string // NOTIFY
}

// testOwner is whose test a mail belongs to: the owner of the sink or of a project.
type testOwner struct {
	account id.Account // "": the mail is of neither
	project string     // "": the sink
}

// testMail is what a transaction knows of faults.
type testMail struct {
	testOwner           // of the recipients
	askedMail  bool     // the rules for MAIL were tried
	content    reply    // to the content, by a tag of a recipient; "": none
	bounce     []Failed // recipients whose tags ask for a report
	full       bool     // RET=FULL
	envelopeID string   // ENVID
}

// test returns what the transaction knows of faults, for adding to it.
func (s *session) test() *testMail {
	if s.tx.test == nil {
		s.tx.test = new(testMail)
	}
	return s.tx.test
}

// faultAtAuth returns the reply to AUTH by a rule, once the credentials are known to be right. done is false if there is none.
func (s *session) faultAtAuth() (r reply, done bool) {
	owner, ok := s.ownerOfAll()
	if !ok {
		return "", false
	}
	if r, done = s.decide(owner, fault.AtAuth, "", nil); done && s.record != nil {
		s.record.refused = true
	}
	return r, done
}

// faultAtMail returns the reply to MAIL by a rule. done is false if there is none.
func (s *session) faultAtMail(from string) (r reply, done bool) {
	owner, ok := s.ownerOfAll()
	if !ok {
		return "", false
	}
	s.test().askedMail = true
	if s.record != nil {
		s.record.from = from
	}
	return s.decide(owner, fault.AtMail, from, nil)
}

// ownerOfAll returns whose test the mail of the session is, before its recipients are known. ok is false if they decide.
func (s *session) ownerOfAll() (owner testOwner, ok bool) {
	if s.srv.cfg.Faults == nil {
		return owner, false
	}
	if owner = s.sessionOwner(); owner.account == "" {
		var err error
		if owner.account, err = s.srv.cfg.Faults.OwnerOf(s.base, s.ip); err != nil {
			return owner, false // the mail fails at RCPT
		}
	}
	return owner, owner.account != ""
}

// sessionOwner returns whose test the session belongs to, whatever the recipients: the project that it has signed in to.
func (s *session) sessionOwner() testOwner {
	if s.project == nil {
		return testOwner{}
	}
	return testOwner{s.project.Account, s.project.Name}
}

// markRecipient records whose test a recipient belongs to. It returns the zero testOwner if it is of neither the sink nor a project.
func (s *session) markRecipient(to inbound.Recipient) (owner testOwner) {
	owner.account, owner.project = to.TestOwner()
	s.tx.mixed = s.tx.mixed || owner.account == ""
	s.record.mark(owner, to)
	return owner
}

// faultAtRcpt returns the reply to RCPT by a rule or by the tag of the address. done is false if the recipient is accepted.
func (s *session) faultAtRcpt(to inbound.Recipient, p rcptParameters) (r reply, done bool) {
	owner := s.markRecipient(to)
	if owner.account == "" || s.srv.cfg.Faults == nil || s.submission != nil {
		return "", false
	}
	tag := fault.TagOf(to.Address)
	if r, done := s.actOnTag(tag, owner, to.Address); done {
		return r, true
	}
	test := s.test()
	if !test.askedMail {
		test.askedMail = true
		if r, done := s.decide(owner, fault.AtMail, s.tx.from, nil); done {
			return r, true
		}
	}
	if r, done := s.decide(owner, fault.AtRcpt, s.tx.from, []string{to.Address}); done {
		return r, true
	}
	test.testOwner = owner
	switch tag.Kind {
	case fault.ContentTag:
		test.content = reply(tag.Reply)
	case fault.BounceTag:
		test.bounce = append(test.bounce, Failed{Address: to.Address, Original: string(p.original), notify: string(p.notify)})
	}
	return "", false
}

// actOnTag does what the tag of a recipient asks for at RCPT.
func (s *session) actOnTag(tag fault.Tag, owner testOwner, to string) (r reply, done bool) {
	switch tag.Kind {
	case fault.ReplyTag:
		return s.act(fault.Action{Reply: tag.Reply})
	case fault.DelayTag:
		return s.act(fault.Action{Delay: tag.Time})
	case fault.CloseTag:
		return s.act(fault.Action{Close: true})
	case fault.GreylistTag:
		mail := &fault.Mail{Account: owner.account, Project: owner.project, Stage: fault.AtRcpt, From: s.tx.from, To: []string{to}}
		taken, err := s.srv.cfg.Faults.Greylist(s.base, mail, tag.Time)
		if err != nil {
			return s.errorReply("greylist", err), true
		}
		if !taken {
			return s.act(fault.Action{Reply: tag.Reply})
		}
	}
	return "", false
}

// faultAt returns the reply to DATA or to the content by a rule or a tag. done is false if the command is executed. A mail that also has
// recipients outside of the sink and of projects is never answered by a fault.
func (s *session) faultAt(stage fault.Stage) (r reply, done bool) {
	test := s.tx.test
	if s.srv.cfg.Faults == nil || test == nil || test.account == "" || s.tx.mixed {
		return "", false
	}
	if stage == fault.AtMessage && test.content != "" {
		return s.act(fault.Action{Reply: string(test.content)})
	}
	to := make([]string, len(s.tx.to))
	for i, r := range s.tx.to {
		to[i] = r.Address
	}
	return s.decide(test.testOwner, stage, s.tx.from, to)
}

// decide asks for the action of a command and does it.
func (s *session) decide(owner testOwner, stage fault.Stage, from string, to []string) (r reply, done bool) {
	action, err := s.srv.cfg.Faults.Decide(s.base, &fault.Mail{Account: owner.account, Project: owner.project, Stage: stage, From: from, To: to})
	if err != nil {
		return s.errorReply("decide on a fault", err), true
	}
	if action.Reply != "" || action.Close {
		s.record.own(owner)
	}
	return s.act(action)
}

// act does what an action says. done is false if the command is to be executed. What fails on purpose does not count against the limits of
// the session.
func (s *session) act(a fault.Action) (r reply, done bool) {
	if a.Delay > 0 {
		if s.wire.flush() == nil {
			s.srv.sleep(a.Delay)
		}
	}
	if a.Close {
		s.closing, s.cut, s.linger = true, a.Reply == "", a.Reply != ""
	}
	if a.Reply == "" && !a.Close {
		return "", false
	}
	s.commands, s.errors = 0, 0
	if s.cut {
		return replyCut, true
	}
	return reply(a.Reply), true
}

// bounceMail reports the recipients whose tags ask for it as failed to the sender of a mail that was stored. NOTIFY of a recipient may
// forbid it (RFC 3461 §4.1).
func (s *session) bounceMail(env *inbound.Envelope, data []byte) {
	test := s.tx.test
	failed := slices.DeleteFunc(test.bounce, func(f Failed) bool { return !f.wantsReport() })
	if len(failed) == 0 || env.From == "" {
		return
	}
	err := s.srv.cfg.Faults.Bounce(s.acceptContext(), &Bounce{Envelope: env, Failed: failed, ID: test.envelopeID, Full: test.full, Data: data})
	if err != nil {
		s.log(slog.LevelWarn, "smtp report of failed delivery was not delivered", slog.Any("error", err))
	}
}
