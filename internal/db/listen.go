package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// reconnectEvery is how soon a listener that lost its connection connects again.
const reconnectEvery = time.Second

// Notify sends texts, of less than 8,000 octets each, to whoever listens on a channel of the same database. It is not
// durable. On SQLite, which one process has to itself, there is nobody.
func (d *DB) Notify(ctx context.Context, channel string, texts []string) error {
	p, shared := d.store.(*postgres)
	if !shared || len(texts) == 0 {
		return nil
	}
	ctx = p.monitor.begin(ctx)
	defer p.monitor.end()
	_, err := p.notifier.ExecContext(ctx, "SELECT pg_notify($1, text) FROM unnest(CAST($2 AS text[])) AS text", channel, texts)
	if err != nil {
		return fmt.Errorf("notify: %w: %w", ErrUnavailable, err)
	}
	return nil
}

// Listen hears what is sent to a channel until ctx ends. began is called whenever it begins to hear: what was sent before,
// as when the connection was lost, it has missed. On SQLite there is nothing to hear.
func (d *DB) Listen(ctx context.Context, channel string, began func(), hear func(text string)) {
	p, shared := d.store.(*postgres)
	if !shared {
		<-ctx.Done()
		return
	}
	for tries := 1; ctx.Err() == nil; tries++ {
		err := p.hear(ctx, channel, func() { tries = 1; began() }, hear)
		if ctx.Err() == nil {
			p.log.WarnContext(ctx, "LISTEN connection lost, reconnecting", "error", err)
			p.pause(ctx, min(reconnectEvery, time.Duration(tries)*backoff(tries)))
		}
	}
}

// hear listens on one connection until it fails.
func (p *postgres) hear(ctx context.Context, channel string, began func(), hear func(text string)) error {
	conn, err := pgx.ConnectConfig(ctx, p.config)
	if err != nil {
		return err
	}
	defer func() {
		ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ended)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	began()
	below := socketOf(conn)
	patience := below.patience.Load()
	for {
		silence, cancel := context.WithTimeout(ctx, p.monitor.timeout)
		below.patience.Store(0) // no answer is due
		n, err := conn.WaitForNotification(silence)
		below.patience.Store(patience)
		cancel()
		switch {
		case err == nil:
			hear(n.Payload)
		case ctx.Err() != nil:
			return ctx.Err()
		case silence.Err() == nil:
			return err
		default: // does the server still answer?
			if err := conn.Ping(ctx); err != nil {
				return err
			}
		}
	}
}
