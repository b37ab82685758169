package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// groupMax is the largest number of updates that share a commit. It limits how long the first of them waits.
const groupMax = 512

// writer owns the only connection that writes. Its goroutine takes an update and all others that are waiting, runs each in a savepoint, commits
// once and completes all of them (group commit). There is no timer: if updates are rare, each is committed at once, and under load they are
// committed in groups.
type writer struct {
	conn         *writeConn
	checkpointer *checkpointer
	commit       func(commit func() error) error
	space        Space // may be nil
	log          *slog.Logger
	queue        chan *update
	exclusive    chan func() // functions to be run between two groups
	closing      chan struct{}
	once         sync.Once
	ended        chan struct{}
	err          error // of closing; valid after ended is closed
	scrubs       int32 // number of failed commits that scrub has overwritten
}

type update struct {
	ctx     context.Context
	fn      func(context.Context, *Tx) error
	freeing bool // see Freeing
	tx      Tx
	err     error
	done    chan struct{}
}

func openWriter(ctx context.Context, path string, o Options) (*writer, error) {
	conn, err := openWriteConn(ctx, path, o)
	if err != nil {
		return nil, err
	}
	checkpointer, err := openCheckpointer(path, o)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	w := &writer{
		conn:         conn,
		checkpointer: checkpointer,
		commit:       o.Commit,
		space:        o.Space,
		log:          o.Logger,
		queue:        make(chan *update, groupMax),
		exclusive:    make(chan func()),
		closing:      make(chan struct{}),
		ended:        make(chan struct{}),
	}
	go w.run()
	return w, nil
}

func (w *writer) update(ctx context.Context, requested work) error {
	u := &update{ctx: ctx, fn: requested.fn, freeing: isFreeing(ctx), done: make(chan struct{})}
	if !u.freeing && w.full() {
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
	case <-abandoned(ctx):
		return ctx.Err()
	case <-w.ended:
		select {
		case <-u.done: // it was part of the last group
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
		case run := <-w.exclusive:
			run()
		case <-w.closing:
			for group = w.collect(group[:0]); len(group) > 0; group = w.collect(group[:0]) {
				w.write(group)
			}
			w.err = errors.Join(w.checkpointer.close(), w.conn.Close())
			return
		}
	}
}

// collect adds the updates that are waiting to a group, as long as it is not full.
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

// write runs a group in one transaction and completes its updates.
func (w *writer) write(group []*update) {
	w.transactAll(group)
	w.retryFreeing(group)
	for _, u := range group {
		if u.err == nil {
			for _, fn := range u.tx.after {
				fn()
			}
		}
		close(u.done)
	}
	clear(group)
	w.checkpointer.startIfDue()
}

// transactAll runs a group in one transaction and sets the err of each update.
func (w *writer) transactAll(group []*update) {
	err := w.transact(group)
	for _, u := range group {
		if u.err == nil {
			u.err = err
		}
	}
}

// transact runs a group in one transaction. It returns an error of the whole group, and sets the err of each update whose closure failed.
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
		if len(group) == 1 {
			w.call(u)
		} else if err := w.savepoint(u); err != nil {
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
		if !errors.Is(err, ErrFull) { // then the commit was not written completely
			w.scrub(ctx)
		}
		w.log.Error("commit failed", "updates", len(group), "error", err)
		return fmt.Errorf("commit: %w: %w", ErrUnavailable, err)
	}
	return nil
}

// call runs the closure of an update and sets the update's err. If the group has no other update, no savepoint is needed, since transact rolls
// everything back after an error. In a savepoint SQLite copies each page that it changes, which takes 2 % of the CPU time of a mail.
func (w *writer) call(u *update) {
	u.tx.session = w.conn
	ctx := context.WithValue(context.WithoutCancel(u.ctx), insideUpdate{}, true)
	u.err = classify(call(ctx, w.log, u.fn, &u.tx))
}

// savepoint runs the closure of an update in a savepoint, so that its failure does not affect the others. It returns an error only if the
// savepoint itself fails, and with it the transaction.
func (w *writer) savepoint(u *update) error {
	ctx := context.WithoutCancel(u.ctx)
	if err := w.conn.run(ctx, "SAVEPOINT u"); err != nil {
		return fmt.Errorf("savepoint: %w: %w", ErrUnavailable, err)
	}
	w.call(u)
	if u.err != nil {
		if err := w.conn.run(ctx, "ROLLBACK TO u"); err != nil {
			if errors.Is(u.err, ErrFull) { // SQLite has rolled back the whole transaction
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

// rollback rolls the transaction back. A failed COMMIT may have done so already, so the error is ignored.
func (w *writer) rollback(ctx context.Context) { _ = w.conn.run(ctx, "ROLLBACK") }

// scrub prevents a group whose commit failed from reappearing after a crash. SQLite had written the group to the end of the log before the sync
// failed, and would treat it as committed if the process were killed now. scrub therefore commits a change of user_version, which overwrites
// the beginning of the group in the log and makes the rest of it invalid. It suffices that this is written: the sync may fail again.
func (w *writer) scrub(ctx context.Context) {
	w.scrubs++
	for _, query := range []string{"BEGIN IMMEDIATE", fmt.Sprintf("PRAGMA user_version = %d", w.scrubs), "COMMIT"} {
		if _, err := w.conn.ExecContext(ctx, query); err != nil {
			w.log.Error("could not overwrite a failed commit: if the process is killed now, its content may come back", "error", err)
			w.rollback(ctx)
			return
		}
	}
}

// ready returns an error unless the writer takes updates.
func (w *writer) ready(ctx context.Context) error {
	return w.update(ctx, work{fn: func(context.Context, *Tx) error { return nil }})
}

func (w *writer) close() error {
	w.once.Do(func() { close(w.closing) })
	<-w.ended
	return w.err
}
