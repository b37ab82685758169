package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// How a listener notices that nobody speaks to it any more, and how soon it calls again.
const (
	silenceMax   = 15 * time.Second
	callAgainMax = time.Second
)

// Notify sends texts, of less than 8,000 octets each, to whoever listens on a channel of the same database. It is not
// durable. On SQLite, which one process has to itself, there is nobody.
func (d *DB) Notify(ctx context.Context, channel string, texts []string) error {
	p, shared := d.store.(*postgres)
	if !shared || len(texts) == 0 {
		return nil
	}
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
			p.log.WarnContext(ctx, "no longer hearing of other processes; calling again", "error", err)
			p.pause(ctx, min(callAgainMax, time.Duration(tries)*backoff(tries)))
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
	for {
		silence, cancel := context.WithTimeout(ctx, silenceMax)
		n, err := conn.WaitForNotification(silence)
		cancel()
		switch {
		case err == nil:
			hear(n.Payload)
		case ctx.Err() != nil:
			return ctx.Err()
		case silence.Err() == nil:
			return err
		default: // nobody said anything: is there anybody?
			if err := conn.Ping(ctx); err != nil {
				return err
			}
		}
	}
}
