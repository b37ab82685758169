package smtpd

import (
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
)

// reportAttempt reports the reply to a mail for a recipient to Config.Attempt. message is "" unless the mail was stored. took is the time
// that the server needed for the reply.
func (s *session) reportAttempt(r reply, from string, to inbound.Recipient, message id.Message, took time.Duration) {
	if s.srv.cfg.Attempt == nil {
		return
	}
	number, code, reason := r.parts()
	s.srv.cfg.Attempt(inbound.Attempt{
		At: s.srv.cfg.Clock.Now(), Client: s.owner, RemoteIP: s.ip, Helo: s.heloName(), TLS: s.tls != "", From: from,
		Recipient: to, Message: message, Reply: number, Code: code, Reason: reason, Took: took,
	})
}

// reportAttempts reports the reply to the content of a mail, for each of its recipients.
func (s *session) reportAttempts(r reply, took time.Duration) {
	if s.tx.stored != nil {
		for _, m := range s.tx.stored {
			s.reportAttempt(r, s.tx.from, m.Recipient, m.Message, took)
		}
		return
	}
	for _, to := range s.tx.to {
		s.reportAttempt(r, s.tx.from, to, "", took)
	}
}

// reportPathAttempt is reportAttempt for a recipient that was refused before the Inbound was asked for it.
func (s *session) reportPathAttempt(r reply, from string, to address) {
	if recipient, ok := inbound.Normalize(to.String()); ok {
		s.reportAttempt(r, from, recipient, "", 0)
	}
}

// parts splits a reply of one line into its code, its enhanced status code and its text.
func (r reply) parts() (number int, code, reason string) {
	digits, rest, _ := strings.Cut(string(r), " ")
	number, _ = strconv.Atoi(digits)
	if code, reason, _ = strings.Cut(rest, " "); strings.Count(code, ".") != 2 { // the reply of a fault rule may lack it
		code, reason = "", rest
	}
	return number, code, reason
}
