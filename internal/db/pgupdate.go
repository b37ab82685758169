package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// How often an update is tried.
const (
	triesMax     = 40 // where others got in its way
	reconnectMax = 3  // where the connection was lost before the commit
	aloneAfter   = 4  // from this try on it waits for its turn among those that are unlucky too
	pauseMax     = 100 * time.Millisecond
)

// doubtMax is how long an update waits to learn whether its commit happened. A sender waits ten minutes for the
// reply to its mail (RFC 5321 §4.5.3.2.6): telling it to come again while the mail may be there would have it twice.
const doubtMax = 2 * time.Minute

// lostCommit says that the connection was lost in the middle of a commit.
type lostCommit struct {
	xid   string
	cause error
}

func (l *lostCommit) Error() string {
	return "the connection was lost during the commit: " + l.cause.Error()
}
func (l *lostCommit) Unwrap() error { return l.cause }

func (p *postgres) update(ctx context.Context, w work) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return ErrClosed
	}
	lost := 0
	for try := 1; ; try++ {
		after, err := p.try(ctx, w, try)
		happened := err == nil
		if doubt, ok := errors.AsType[*lostCommit](err); ok {
			var unknown error
			if happened, unknown = p.resolve(ctx, w, doubt); unknown != nil {
				return unknown
			}
		}
		if happened {
			for _, fn := range after {
				fn()
			}
			return nil
		}
		switch {
		case refused(err, w.locks) && try < triesMax:
		case Unavailable(err) && lost < reconnectMax-1:
			lost++
		case Unavailable(err) || refused(err, w.locks):
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		default:
			return err
		}
		p.pause(ctx, backoff(try))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// over reports whether nobody waits any more: ctx has ended, or the database is being closed.
func (p *postgres) over(ctx context.Context) bool {
	select {
	case <-p.closing:
		return true
	default:
		return ctx.Err() != nil
	}
}

// backoff is a time by chance, so that those who met do not meet again, and longer with each try.
func backoff(try int) time.Duration {
	most := min(pauseMax, time.Millisecond<<min(try, 10))
	d, err := rand.Int(rand.Reader, big.NewInt(int64(most)))
	if err != nil {
		panic(err) // crypto/rand ends the program itself before it fails
	}
	return time.Duration(d.Int64())
}

// try runs the closure once, in a transaction of its own, and returns what it left for after the commit.
func (p *postgres) try(ctx context.Context, w work, try int) (after []func(), err error) {
	if try >= aloneAfter {
		p.turn.Lock()
		defer p.turn.Unlock()
	}
	conn, err := p.writers.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	s := p.session(conn)
	tx := Tx{session: s, again: try > 1}
	err = p.transact(context.WithoutCancel(ctx), s, w, &tx)
	return tx.after, err
}

func (p *postgres) transact(ctx context.Context, s *pgSession, w work, tx *Tx) error {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, inside{}, true), transactionMax)
	defer cancel()
	s.opening = opening(w)
	err := call(ctx, p.log, w.fn, tx)
	if err == nil && (s.failed != nil || !s.begun) {
		err = s.flush(ctx)
	}
	if err != nil {
		return s.undo(ctx, err)
	}
	err = p.commit(func() error { return s.commit(ctx) })
	if err == nil {
		return nil
	}
	s.rollBack(ctx)
	if _, doubt := errors.AsType[*lostCommit](err); !doubt && s.failed != nil {
		return err // what was queued failed, and the commit was not tried
	}
	if !refused(err, false) { // as PostgreSQL does now and then: it is run again
		p.log.ErrorContext(ctx, "commit failed", "error", err)
	}
	if _, doubt := errors.AsType[*lostCommit](err); !doubt && !refused(err, w.locks) {
		return fmt.Errorf("commit: %w: %w", ErrUnavailable, err)
	}
	return err
}

// opening are the statements that begin a transaction and, where it will be asked whether it happened, ask for its number.
func opening(w work) []string {
	if !w.locks {
		return []string{"BEGIN ISOLATION LEVEL SERIALIZABLE"}
	}
	return []string{"BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_current_xact_id()"}
}

// commit sends what was queued, and the commit behind it.
func (s *pgSession) commit(ctx context.Context) error {
	done, err := s.pipeline(ctx, nil, s.take(), "COMMIT")
	switch {
	case err != nil && (unanswered(err) || ended(err)):
		return &lostCommit{s.xid, err}
	case err != nil:
		return err
	case done.CommandTag.String() != "COMMIT": // a statement failed, and the closure kept it to itself
		return errors.New("the transaction had failed before its commit")
	}
	return nil
}

// resolve finds out whether a commit happened during which the connection was lost. An error says that nobody knows.
func (p *postgres) resolve(ctx context.Context, w work, doubt *lostCommit) (happened bool, err error) {
	unknown := fmt.Errorf("whether it was stored is unknown: %w: %w", ErrUnavailable, doubt)
	if w.done == nil {
		return false, unknown
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), doubtMax)
	defer cancel()
	for !p.over(ctx) {
		if happened, err := p.happened(ctx, w, doubt.xid); err == nil {
			p.log.WarnContext(ctx, "the connection was lost during a commit", "stored", happened)
			return happened, nil
		}
		p.pause(ctx, pauseMax)
	}
	return false, unknown
}

var errUndecided = errors.New("the transaction has not ended")

// happened asks what is stored, once the transaction has ended. The server's word on the transaction alone would not do:
// after a crash it may give a number that it has forgotten to another.
func (p *postgres) happened(ctx context.Context, w work, xid string) (bool, error) {
	var status string
	err := p.readers.QueryRowContext(ctx, "SELECT coalesce(pg_xact_status(CAST(CAST($1 AS text) AS xid8)), '')", xid).Scan(&status)
	if err != nil {
		return false, err
	}
	if status == "in progress" {
		return false, errUndecided
	}
	return w.done(ctx, pgReaders{p.readers})
}
