package smtpd

import (
	"errors"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

// refusal is the one place where a problem becomes a reply; decisions §3 has the table. What is no problem, or one that mail has
// no word for, is a fault of ours: the client tries again and nothing is lost. Never is such a fault told as a 5yz.
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

// statusOf is the code and the enhanced status code for a problem that mail has words for, else "".
func statusOf(c problem.Code) string {
	switch c {
	case problem.MailMailboxUnknown:
		return "550 5.1.1"
	case problem.MailDomainNotServed:
		return "550 5.7.1"
	case problem.MailDomainSuspended:
		return "450 4.1.2"
	case problem.MailDailyCap, problem.MailMailboxFull:
		return "452 4.2.2"
	case problem.MailboxLimitReached: // a catch-all mailbox that the owner's plan has no room for
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
