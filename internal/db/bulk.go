package db

import (
	"context"
	"errors"
	"fmt"
)

// Bulk runs fn once, in one transaction without a bound on its duration: for reading or writing a whole database, never for a call that a
// client waits for. All reads see one snapshot. On SQLite no other update runs meanwhile; on PostgreSQL fn first locks the tables that
// must not change. The transaction is rolled back when ctx ends.
func (d *DB) Bulk(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	if ctx.Value(insideUpdate{}) != nil {
		return errors.New("db: Bulk called inside an Update")
	}
	p, shared := d.store.(*postgres)
	if !shared {
		return d.store.update(ctx, work{fn: fn})
	}
	return p.bulk(ctx, fn)
}

func (p *postgres) bulk(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return ErrClosed
	}
	conn, err := p.writers.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w: %w", ErrUnavailable, err)
	}
	defer conn.Close()
	s := p.session(conn)
	s.opening = []string{"BEGIN ISOLATION LEVEL REPEATABLE READ"}
	restore, err := p.extendTimeouts(s, bulkMax)
	if err != nil {
		return fmt.Errorf("connect: %w: %w", ErrUnavailable, err)
	}
	defer restore()
	s.opening = append(s.opening, "SET LOCAL idle_in_transaction_session_timeout = 0") // the other database of a move may be slow
	tx := Tx{session: s}
	if err = call(context.WithValue(ctx, insideUpdate{}, true), p.log, fn, &tx); err == nil {
		err = s.flush(ctx)
	}
	if err != nil {
		return s.undo(context.WithoutCancel(ctx), err)
	}
	if err := p.commit(func() error { return s.commit(ctx) }); err != nil {
		return fmt.Errorf("commit: %w: %w", ErrUnavailable, err)
	}
	for _, fn := range tx.after {
		fn()
	}
	return nil
}

// Text returns the form in which an engine stores a text: PostgreSQL stores neither NUL nor invalid UTF-8.
func (e Engine) Text(text string) string {
	if e == Postgres {
		return Storable(text)
	}
	return text
}
