package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// groupMax bounds how many closures share a commit, so that the first of them does not wait without end.
const groupMax = 512

// writer is the only connection that writes. One goroutine takes a closure, then whatever already waits, runs each in a
// savepoint of its own, commits once and answers all. There is no timer: an idle service commits at once, a busy one in groups.
type writer struct {
	conn    *writeConn
	behind  *checkpointer
	commit  func(commit func() error) error
	space   Space // nil: nobody watches the disk
	log     *slog.Logger
	queue   chan *update
	between chan func() // run between two groups
	closing chan struct{}
	once    sync.Once
	ended   chan struct{}
	err     error // of closing, valid after ended
	scrubs  int32 // failed commits that were written over
}

type update struct {
	ctx   context.Context
	fn    func(context.Context, *Tx) error
	frees bool // it may be carried out on a full disk; see Freeing
	tx    Tx
	err   error
	done  chan struct{}
}

func openWriter(ctx context.Context, path string, o Options) (*writer, error) {
	conn, err := openWriteConn(ctx, path, o)
	if err != nil {
		return nil, err
	}
	behind, err := openCheckpointer(path, o)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	w := &writer{
		conn:    conn,
		behind:  behind,
		commit:  o.Commit,
		space:   o.Space,
		log:     o.Logger,
		queue:   make(chan *update, groupMax),
		between: make(chan func()),
		closing: make(chan struct{}),
		ended:   make(chan struct{}),
	}
	go w.run()
	return w, nil
}

func (w *writer) update(ctx context.Context, asked work) error {
	u := &update{ctx: ctx, fn: asked.fn, frees: frees(ctx), done: make(chan struct{})}
	if !u.frees && w.full() {
		return ErrFull
	}
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
		case run := <-w.between:
			run()
		case <-w.closing:
			for group = w.collect(group[:0]); len(group) > 0; group = w.collect(group[:0]) {
				w.write(group)
			}
			w.err = errors.Join(w.behind.close(), w.conn.Close())
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
	w.transactAll(group)
	w.writeAgain(group)
	for _, u := range group {
		if u.err == nil {
			for _, fn := range u.tx.after {
				fn()
			}
		}
		close(u.done)
	}
	clear(group)
	w.behind.look()
}

// transactAll carries out a group in one transaction; what became of each update is in its err.
func (w *writer) transactAll(group []*update) {
	err := w.transact(group)
	for _, u := range group {
		if u.err == nil {
			u.err = err
		}
	}
}

// transact gives the error that concerns the whole group; each closure's own is in its err.
func (w *writer) transact(group []*update) error {
	ctx := context.Background()
	if err := w.conn.run(ctx, "BEGIN IMMEDIATE"); err != nil {
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
	if err := w.commit(func() error { return w.conn.run(ctx, "COMMIT") }); err != nil {
		w.rollback(ctx)
		if !errors.Is(err, ErrFull) { // then its end was not written
			w.scrub(ctx)
		}
		w.log.Error("commit failed", "updates", len(group), "error", err)
		return fmt.Errorf("commit: %w: %w", ErrUnavailable, err)
	}
	return nil
}

// savepoint runs one closure so that its failure is its own. The error is of the savepoint itself: the transaction is lost.
func (w *writer) savepoint(u *update) error {
	ctx := context.WithValue(context.WithoutCancel(u.ctx), inside{}, true)
	if err := w.conn.run(ctx, "SAVEPOINT u"); err != nil {
		return fmt.Errorf("savepoint: %w: %w", ErrUnavailable, err)
	}
	u.tx.session = w.conn
	u.err = fault(call(ctx, w.log, u.fn, &u.tx))
	if u.err != nil {
		if err := w.conn.run(ctx, "ROLLBACK TO u"); err != nil {
			if errors.Is(u.err, ErrFull) { // SQLite has undone the whole transaction
				return fmt.Errorf("roll back: %w: %w", ErrFull, err)
			}
			return fmt.Errorf("roll back: %w: %w", ErrUnavailable, err)
		}
	}
	if err := w.conn.run(ctx, "RELEASE u"); err != nil {
		return fmt.Errorf("release: %w: %w", ErrUnavailable, err)
	}
	return nil
}

// rollback ends a transaction that will not be committed; a failed COMMIT may have ended it already, so the error says nothing.
func (w *writer) rollback(ctx context.Context) { _ = w.conn.run(ctx, "ROLLBACK") }

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
	return w.update(ctx, work{fn: func(context.Context, *Tx) error { return nil }})
}

func (w *writer) close() error {
	w.once.Do(func() { close(w.closing) })
	<-w.ended
	return w.err
}
