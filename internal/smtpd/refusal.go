package smtpd

import (
	"errors"
	"strings"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

// refusal returns the reply for an error (docs/spec/smtp.md#replies). It is the only function that turns problems into
// replies. An error that is not a problem, or a problem without an SMTP reply, is a fault of this server. Its reply is
// temporary, so that the client tries again and no mail is lost. known is false for such a fault, which the caller must
// log, except for server.unavailable, which is expected while the database does not respond.
func refusal(err error) (r reply, known bool) {
	if errors.Is(err, budget.ErrExhausted) {
		return "452 4.3.1 Too much mail at the moment, try again later", true
	}
	p, known := problem.From(err)
	if !known {
		return "451 4.3.0 Something went wrong on our side, try again later", false
	}
	if status := statusOf(p.Code); status != "" {
		return reply(status + " " + p.Title()), true
	}
	return "451 4.3.0 Not available right now, try again later", p.Code == problem.ServerUnavailable
}

// signInErrorReply returns the reply to AUTH for an error of Config.SignIn. All but wrong credentials is temporary.
func (s *session) signInErrorReply(err error) reply {
	p, known := problem.From(err)
	switch {
	case known && p.Code == problem.AuthInvalidCredentials:
		return replyCredentials
	case known && p.Code == problem.RateLimited:
		return "454 4.7.0 Too many wrong passwords, try again later"
	case known && p.Code == problem.ProjectLimitReached:
		return "454 4.7.0 There are too many projects, delete one"
	}
	r := s.errorReply("sign-in", err)
	_, text, _ := strings.Cut(string(r), " ")
	_, text, _ = strings.Cut(text, " ")
	return reply("454 4.7.0 " + text)
}

// statusOf returns the reply code and the enhanced status code (RFC 3463) of a problem, or "" if it has no SMTP reply.
func statusOf(c problem.Code) string {
	switch c {
	case problem.MailMailboxUnknown:
		return "550 5.1.1"
	case problem.MailDomainNotServed:
		return "550 5.7.1"
	case problem.MailDomainSuspended:
		return "450 4.1.2"
	case problem.MailAccountDisabled:
		return "450 4.2.1"
	case problem.MailDailyCap, problem.MailMailboxFull:
		return "452 4.2.2"
	case problem.MailboxLimitReached: // the account that owns a catch-all domain has too many mailboxes
		return "452 4.2.2"
	case problem.MailStorageFull:
		return "452 4.3.1"
	case problem.MailTooLarge:
		return "552 5.3.4"
	case problem.MailTooManyRecipients:
		return "452 4.5.3"
	case problem.MailMalformed:
		return "550 5.6.0"
	case problem.MailAddressSyntax:
		return "553 5.1.3"
	default:
		return ""
	}
}
