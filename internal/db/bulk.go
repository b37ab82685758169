package db

import (
	"context"
	"errors"
	"fmt"
)

// Bulk runs fn once, in a transaction without a limit on its duration. It is for reading or writing a whole database, and must not be used
// for a call that a client waits for. All reads see the same snapshot. On SQLite no other update runs meanwhile; on PostgreSQL fn must
// lock the tables that must not change. When ctx ends, the transaction is rolled back.
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
	s.opening = append(s.opening, "SET LOCAL idle_in_transaction_session_timeout = 0") // a move may wait for its other database
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

// Text returns a text as the engine stores it: on PostgreSQL without NUL and invalid UTF-8 (see Storable).
func (e Engine) Text(text string) string {
	if e == Postgres {
		return Storable(text)
	}
	return text
}
