package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// groupMax bounds how many closures share a commit, so that the first of them does not wait without end.
const groupMax = 512

// writer is the only connection that writes. One goroutine takes a closure, then whatever already waits, runs each in a
// savepoint of its own, commits once and answers all. There is no timer: an idle service commits at once, a busy one in groups.
type writer struct {
	conn    *writeConn
	commit  func(commit func() error) error
	log     *slog.Logger
	queue   chan *update
	closing chan struct{}
	once    sync.Once
	ended   chan struct{}
	err     error // of closing, valid after ended
	scrubs  int32 // failed commits that were written over
}

type update struct {
	ctx  context.Context
	fn   func(context.Context, *Tx) error
	tx   Tx
	err  error
	done chan struct{}
}

// inside marks the context of a closure, to refuse an Update in an Update instead of waiting for oneself for ever.
type inside struct{}

func openWriter(ctx context.Context, path string, o Options) (*writer, error) {
	conn, err := openWriteConn(ctx, path)
	if err != nil {
		return nil, err
	}
	w := &writer{
		conn:    conn,
		commit:  o.Commit,
		log:     o.Logger,
		queue:   make(chan *update, groupMax),
		closing: make(chan struct{}),
		ended:   make(chan struct{}),
	}
	if w.commit == nil {
		w.commit = func(commit func() error) error { return commit() }
	}
	go w.run()
	return w, nil
}

func (w *writer) update(ctx context.Context, fn func(context.Context, *Tx) error) error {
	if ctx.Value(inside{}) != nil {
		return errors.New("db: Update called inside an Update")
	}
	u := &update{ctx: ctx, fn: fn, done: make(chan struct{})}
	select {
	case <-w.closing:
		return ErrClosed
	default:
	}
	select {
	case w.queue <- u:
	case <-w.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-u.done:
		return u.err
	case <-w.ended:
		select {
		case <-u.done: // it was in the last group
			return u.err
		default:
			return ErrClosed
		}
	}
}

func (w *writer) run() {
	defer close(w.ended)
	group := make([]*update, 0, groupMax)
	for {
		select {
		case u := <-w.queue:
			group = w.collect(append(group[:0], u))
			w.write(group)
		case <-w.closing:
			for group = w.collect(group[:0]); len(group) > 0; group = w.collect(group[:0]) {
				w.write(group)
			}
			w.err = w.conn.Close()
			return
		}
	}
}

// collect adds what waits already.
func (w *writer) collect(group []*update) []*update {
	for len(group) < groupMax {
		select {
		case u := <-w.queue:
			group = append(group, u)
		default:
			return group
		}
	}
	return group
}

// write runs a group in one transaction and answers everybody in it.
func (w *writer) write(group []*update) {
	err := w.transact(group)
	for _, u := range group {
		if u.err == nil {
			u.err = err
		}
		if u.err == nil {
			for _, fn := range u.tx.after {
				fn()
			}
		}
		close(u.done)
	}
	clear(group)
}

// transact gives the error that concerns the whole group; each closure's own is in its err.
func (w *writer) transact(group []*update) error {
	ctx := context.Background()
	if err := w.conn.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w: %w", ErrUnavailable, err)
	}
	wrote := false
	for _, u := range group {
		if u.err = u.ctx.Err(); u.err != nil {
			continue
		}
		if err := w.savepoint(u); err != nil {
			w.rollback(ctx)
			return err
		}
		wrote = wrote || u.err == nil
	}
	if !wrote {
		w.rollback(ctx)
		return nil
	}
	if err := w.commit(func() error { return w.conn.exec(ctx, "COMMIT") }); err != nil {
		w.rollback(ctx)
		w.scrub(ctx)
		w.log.Error("commit failed", "updates", len(group), "error", err)
		return fmt.Errorf("commit: %w: %w", ErrUnavailable, err)
	}
	return nil
}

// savepoint runs one closure so that its failure is its own. The error is of the savepoint itself: the transaction is lost.
func (w *writer) savepoint(u *update) error {
	ctx := context.WithValue(context.WithoutCancel(u.ctx), inside{}, true)
	if err := w.conn.exec(ctx, "SAVEPOINT u"); err != nil {
		return fmt.Errorf("savepoint: %w: %w", ErrUnavailable, err)
	}
	u.tx.conn = w.conn
	u.err = w.call(ctx, u)
	if u.err != nil {
		if err := w.conn.exec(ctx, "ROLLBACK TO u"); err != nil {
			return fmt.Errorf("roll back: %w: %w", ErrUnavailable, err)
		}
	}
	if err := w.conn.exec(ctx, "RELEASE u"); err != nil {
		return fmt.Errorf("release: %w: %w", ErrUnavailable, err)
	}
	return nil
}

// call runs the closure and makes a panic of it an error.
func (w *writer) call(ctx context.Context, u *update) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.log.ErrorContext(u.ctx, "update panicked", "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("db: update panicked: %v", r)
		}
	}()
	return u.fn(ctx, &u.tx)
}

// rollback ends a transaction that will not be committed; a failed COMMIT may have ended it already, so the error says nothing.
func (w *writer) rollback(ctx context.Context) { _ = w.conn.exec(ctx, "ROLLBACK") }

// scrub makes sure that a group whose commit failed is not found after a crash. SQLite has written it to the end of the
// log before the sync failed, and would take it for committed if the next thing that happened were a kill. So something
// without meaning is written over its beginning, which makes the rest unreadable. That this may fail in its turn, on a disk
// that fails, changes nothing: its own content is harmless, and what counts is that it was written, not that it was synced.
func (w *writer) scrub(ctx context.Context) {
	w.scrubs++
	for _, query := range []string{"BEGIN IMMEDIATE", fmt.Sprintf("PRAGMA user_version = %d", w.scrubs), "COMMIT"} {
		if _, err := w.conn.ExecContext(ctx, query); err != nil {
			w.log.Error("a failed commit could not be written over; if the process is killed now, what it held may come back", "error", err)
			w.rollback(ctx)
			return
		}
	}
}

// ready reports whether the writer still takes updates.
func (w *writer) ready(ctx context.Context) error {
	return w.update(ctx, func(context.Context, *Tx) error { return nil })
}

func (w *writer) close() error {
	w.once.Do(func() { close(w.closing) })
	<-w.ended
	return w.err
}
