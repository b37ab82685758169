package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// reconnectEvery is the longest pause before a lost LISTEN connection is opened again.
const reconnectEvery = time.Second

// Notify sends texts, of less than 8,000 octets each, to the processes that listen on a channel of the same database. Notifications are not
// durable. On SQLite, which a single process uses, it does nothing.
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

// Listen calls receive with each text that is sent to a channel, until ctx ends. It calls began whenever it starts to listen, also after a
// lost connection: texts that were sent before are not received. Both functions are called on the caller's goroutine. On SQLite Listen
// only waits for the end of ctx.
func (d *DB) Listen(ctx context.Context, channel string, began func(), receive func(text string)) {
	p, shared := d.store.(*postgres)
	if !shared {
		<-ctx.Done()
		return
	}
	for tries := 1; ctx.Err() == nil; tries++ {
		err := p.listen(ctx, channel, func() { tries = 1; began() }, receive)
		if ctx.Err() == nil {
			p.log.WarnContext(ctx, "LISTEN connection lost, reconnecting", "error", err)
			p.pause(ctx, min(reconnectEvery, time.Duration(tries)*backoff(tries)))
		}
	}
}

// listen listens on one connection until it fails.
func (p *postgres) listen(ctx context.Context, channel string, began func(), receive func(text string)) error {
	config := p.config.Copy()
	if err := p.monitor.preferHost(ctx, config); err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
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
	sock := socketOf(conn)
	limit := sock.limit.Load()
	for {
		silence, cancel := context.WithTimeout(ctx, p.monitor.timeout)
		sock.limit.Store(0) // a notification may take any time
		n, err := conn.WaitForNotification(silence)
		sock.limit.Store(limit)
		cancel()
		switch {
		case err == nil:
			receive(n.Payload)
		case ctx.Err() != nil:
			return ctx.Err()
		case silence.Err() == nil:
			return err
		default: // after a silence, check that the server still responds
			if err := conn.Ping(ctx); err != nil {
				return err
			}
		}
	}
}
