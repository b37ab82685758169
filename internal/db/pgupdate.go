package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Limits of retries of an update.
const (
	triesMax     = 40 // tries after conflicts with other transactions
	reconnectMax = 3  // tries after losing the connection before the commit
	serialFrom   = 4  // number of the try from which on such updates of this process run one after the other
	pauseMax     = 100 * time.Millisecond
)

// bounds are the time limits of an update, derived from Options.Timeout.
type bounds struct {
	statement time.Duration // from sending it to its result
	update    time.Duration // all tries, including finding out whether the commit happened
}

func (p *postgres) bounds(ctx context.Context) bounds {
	t := p.monitor.timeout
	if ctx.Value(background{}) != nil {
		return bounds{6 * t, 12 * t}
	}
	return bounds{t, t + t/2}
}

// Background returns a context for updates of background jobs, which no client waits for and which may have much to do: an update may take
// twelve times Options.Timeout, and each of its statements six times.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, background{}, true)
}

type background struct{}

// lostCommit is the error of a commit during which the connection was lost.
type lostCommit struct {
	xid   string
	cause error
}

func (l *lostCommit) Error() string {
	return "the connection was lost during the commit: " + l.cause.Error()
}
func (l *lostCommit) Unwrap() error { return l.cause }

// errUnconfirmed is the error of a commit that no synchronous standby has confirmed. The commit is stored on this server and visible to
// readers, but lost if another server takes over. The update therefore neither succeeds nor is repeated.
var errUnconfirmed = errors.New("no synchronous standby has confirmed the commit")

func (p *postgres) update(ctx context.Context, w work) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return ErrClosed
	}
	err := p.monitor.enter()
	defer p.monitor.end()
	if err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, p.bounds(ctx).update)
	defer cancel()
	lost := 0
	for try := 1; ; try++ {
		after, err := p.try(bound, w, try)
		if errors.Is(err, errUnconfirmed) {
			return fmt.Errorf("whether it stays stored is unknown: %w: %w", ErrUnavailable, err)
		}
		happened := err == nil
		if doubt, ok := errors.AsType[*lostCommit](err); ok {
			var unknown error
			if happened, unknown = p.resolve(bound, w, doubt); unknown != nil {
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
		case isRetryable(err, w.locks) && try < triesMax:
		case Unavailable(err) && lost < reconnectMax-1 && !timedOut(err) && p.monitor.down() == nil:
			lost++
		case Unavailable(err) || isRetryable(err, w.locks):
			return p.unavailable(err)
		default:
			return err
		}
		p.pause(bound, backoff(try))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case bound.Err() != nil:
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
}

// keepDeadline returns a context with ctx's deadline and values that is not cancelled with ctx.
func keepDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if ctx = context.WithoutCancel(ctx); !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end)
}

// abandoned reports whether the caller has stopped waiting: ctx has ended, or the database is being closed.
func (p *postgres) abandoned(ctx context.Context) bool {
	select {
	case <-p.closing:
		return true
	default:
		return ctx.Err() != nil || errors.Is(p.monitor.down(), ErrClosed)
	}
}

// backoff returns a random pause, whose maximum grows with each try, so that conflicting updates do not conflict again.
func backoff(try int) time.Duration {
	most := min(pauseMax, time.Millisecond<<min(try, 10))
	d, err := rand.Int(rand.Reader, big.NewInt(int64(most)))
	if err != nil {
		panic(err) // crypto/rand ends the program itself before it fails
	}
	return time.Duration(d.Int64())
}

// try runs the closure once, in its own transaction, and returns the functions to call after the commit.
func (p *postgres) try(ctx context.Context, w work, try int) (after []func(), err error) {
	if try >= serialFrom {
		select {
		case p.serial <- struct{}{}:
			defer func() { <-p.serial }()
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for other updates: %w", ctx.Err())
		}
	}
	conn, err := p.writers.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	s := p.session(conn)
	tx := Tx{session: s, again: try > 1}
	ctx, cancel := keepDeadline(context.WithValue(ctx, insideUpdate{}, true))
	defer cancel()
	s.opening = opening(w)
	if ctx.Value(background{}) != nil {
		restore, err := p.extendTimeouts(s, p.bounds(ctx).statement)
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		defer restore()
	}
	err = p.transact(ctx, s, w, &tx)
	return tx.after, err
}

func (p *postgres) transact(ctx context.Context, s *pgSession, w work, tx *Tx) error {
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
		return err // a queued statement failed before the commit
	}
	if errors.Is(err, errUnconfirmed) {
		p.log.ErrorContext(ctx, "commit not confirmed by a synchronous standby", "error", err)
		return err
	}
	if !isRetryable(err, false) { // a serialization failure at commit is normal, and retried
		p.log.ErrorContext(ctx, "commit failed", "error", err)
	}
	if _, doubt := errors.AsType[*lostCommit](err); !doubt && !isRetryable(err, w.locks) {
		return fmt.Errorf("commit: %w: %w", ErrUnavailable, err)
	}
	return err
}

// opening returns the statements that begin a transaction. They select its identifier where happened may need it.
func opening(w work) []string {
	if !w.locks {
		return []string{"BEGIN ISOLATION LEVEL SERIALIZABLE"}
	}
	return []string{"BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_current_xact_id()"}
}

// extendTimeouts extends the timeouts of a transaction, on the server until its end and of the socket until restore.
func (p *postgres) extendTimeouts(s *pgSession, statement time.Duration) (restore func(), err error) {
	for _, setting := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
		s.opening = append(s.opening, "SET LOCAL "+setting+" = "+serverTimeout(statement))
	}
	var sock *socket
	err = s.raw(func(c *pgx.Conn) error { sock = socketOf(c); return nil })
	if err != nil {
		return nil, err
	}
	was := sock.limit.Swap(p.monitor.ticks(statement))
	return func() { sock.limit.Store(was) }, nil
}

// commit sends the queued statements, followed by COMMIT.
func (s *pgSession) commit(ctx context.Context) error {
	s.takeWarning() // clear a warning of an earlier statement of the transaction
	done, err := s.pipeline(ctx, nil, s.take(), "COMMIT")
	switch {
	case err == nil && s.takeWarning():
		return errUnconfirmed
	case err != nil && (unanswered(err) || endedByServer(err)):
		return &lostCommit{s.xid, err}
	case err != nil:
		return err
	case done.CommandTag.String() != "COMMIT": // ROLLBACK: a statement failed, and the closure ignored it
		return errors.New("the transaction had failed before its commit")
	}
	return nil
}

// takeWarning reports whether the server has sent a warning since the last call.
func (s *pgSession) takeWarning() (yes bool) {
	_ = s.raw(func(c *pgx.Conn) error {
		data := c.PgConn().CustomData()
		_, yes = data[warningKey]
		delete(data, warningKey)
		return nil
	})
	return yes
}

// warningKey is the key in a connection's custom data that is set if the connection has received a warning.
const warningKey = "warning"

// recordWarning records that a connection received a general warning (SQLSTATE 01000). A commit causes this warning only if the transaction
// was committed on this server, but might not have been replicated to the synchronous standby.
func recordWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" && n.Code == "01000" {
		c.CustomData()[warningKey] = true
	}
}

// resolve finds out whether a transaction was committed although the connection was lost during the commit. It returns an error if that
// remains unknown.
func (p *postgres) resolve(ctx context.Context, w work, doubt *lostCommit) (happened bool, err error) {
	unknown := fmt.Errorf("whether it was stored is unknown: %w: %w", ErrUnavailable, doubt)
	if w.done == nil {
		return false, unknown
	}
	ctx, cancel := keepDeadline(ctx)
	defer cancel()
	least, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.monitor.timeout/4) // at least this long, if the update has no time left
	defer cancel()
	for !p.abandoned(ctx) || !p.abandoned(least) {
		if ctx.Err() != nil {
			ctx = least
		}
		if happened, err := p.happened(ctx, w, doubt.xid); err == nil {
			p.log.WarnContext(ctx, "the connection was lost during a commit", "stored", happened)
			return happened, nil
		}
		p.pause(ctx, pauseMax)
	}
	return false, unknown
}

var errUndecided = errors.New("the transaction has not ended")

// happened reports whether the transaction was committed, by looking at the stored data once the transaction has ended. The status of its
// identifier alone would not suffice: after a crash the server may reuse an identifier that was not yet durable.
func (p *postgres) happened(ctx context.Context, w work, xid string) (bool, error) {
	var status string
	readers := pgReaders{p.readers, p.monitor}
	err := readers.QueryRow(ctx, "SELECT coalesce(pg_xact_status(CAST(CAST($1 AS text) AS xid8)), '')", xid).Scan(&status)
	if err != nil {
		return false, err
	}
	if status == "in progress" {
		return false, errUndecided
	}
	return w.done(ctx, readers)
}
