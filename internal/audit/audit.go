// Package audit records what staff and the operator's commands change, in a table that only grows
// (docs/spec/staff.md#the-audit-log). The actor travels in the context, so that the function of a domain that makes a
// change also records it, in the same transaction.
//
// Accounts are recorded by their identifiers, since entries are never deleted and an account's e-mail address is erased with the
// account. Lists show the address as long as there is one.
//
// The edges set the actor with As: a command for the operator, the staff API for the member of staff; owners who change the
// credentials of their account are actors too. Domains call
// RecordTx in the transaction of the change, so that a change without its entry cannot be committed. Entries are not
// deleted.
package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/truncate"
)

// Command is the actor of changes that the operator's commands make.
const Command = "command"

// Entry is a recorded change.
type Entry struct {
	ID     id.Audit
	At     time.Time
	Actor  string // an account, or Command; see Log.List
	Action string // such as user.disable
	Target string // what was changed: an account, a domain, an identifier
	Detail string // the change, without secrets; may be empty
}

type actorKey struct{}

// As returns a context whose changes are recorded as made by an actor. Changes in a context without an actor are not recorded:
// they are those that owners make to what they own.
func As(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// textMax bounds target and detail, in octets.
const textMax = 2000

// RecordTx records a change in the transaction that makes it, if ctx has an actor.
//
// action is a short name in lower case, such as user.disable; operators filter by it, so a name does not change. target
// and detail must contain neither secrets nor e-mail addresses of accounts, and are cut to textMax octets. A failure fails the change.
func RecordTx(ctx context.Context, tx *db.Tx, now time.Time, action, target, detail string) error {
	actor, ok := ctx.Value(actorKey{}).(string)
	if !ok {
		return nil
	}
	at := now.Truncate(time.Microsecond)
	_, err := tx.Exec(ctx, insert, id.New[id.Audit](at), at.UnixMicro(), actor, action, truncate.Octets(target, textMax), truncate.Octets(detail, textMax))
	if err != nil {
		return fmt.Errorf("record %s: %w", action, err)
	}
	return nil
}

// Log reads the recorded changes.
type Log struct{ db *db.DB }

// New returns a Log, which is safe for concurrent use.
func New(d *db.DB) *Log { return &Log{d} }

// Details returns the details of at most max changes by an action that were made after a time, the newest first.
func (l *Log) Details(ctx context.Context, action string, after time.Time, max int) ([]string, error) {
	all, err := db.Collect(ctx, l.db, scanDetail, selectDetails, id.Last[id.Audit](after), action, max)
	if err != nil {
		return nil, fmt.Errorf("list %s of the audit log: %w", action, err)
	}
	return all, nil
}

// List returns at most max changes, newest first. If after is not empty they are older than that one. Accounts are named by their
// e-mail addresses; one that was deleted by its identifier.
func (l *Log) List(ctx context.Context, after id.Audit, max int) ([]*Entry, error) {
	all, err := db.Collect(ctx, l.db, scan, selectPage, after, max)
	if err != nil {
		return nil, fmt.Errorf("list the audit log: %w", err)
	}
	return all, nil
}
