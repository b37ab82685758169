package mailbox

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/token"
)

// OpenedFor is how long Identify may rely on a mailbox that it has read, where another process, a command, has ended it since. A command
// returns only after that time, so that the tokens it has voided are refused from then on.
const OpenedFor = 250 * time.Millisecond

// openedMax is how many mailboxes Service.opened has, at some 400 octets each.
const openedMax = 4096

// Identify is Open for a call that does not need the mailbox's counts, which may be OpenedFor old. It remembers mailboxes on SQLite, where
// this process makes all changes but those of commands: each change that concerns tokens drops the mailbox as soon as it is committed. On
// PostgreSQL any process may have ended the mailbox a moment ago, so the row is read.
func (s *Service) Identify(ctx context.Context, claims token.MailboxClaims) (*Mailbox, error) {
	if s.db.Engine() != db.SQLite {
		return s.Open(ctx, claims)
	}
	now := s.clock.Now()
	m, known, epoch := s.opened.Look(claims.Mailbox, now)
	if known {
		return m.checked(claims, now)
	}
	read, err := s.Open(ctx, claims)
	if err == nil {
		s.opened.PutSince(epoch, read.ID, *read, 1, now.Add(OpenedFor))
	}
	return read, err
}

// ForgetTokens makes Identify read every mailbox again. It is called after the tokens of all mailboxes of an account were voided
// (EndTokensTx).
func (s *Service) ForgetTokens() { s.opened.Clear() }
