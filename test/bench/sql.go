package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest" // with both drivers
)

// A stock is filled with copies of what the service itself stored in one mailbox, a message of each mailbox in turn, so that the rows of
// a mailbox are as far apart as if its mail had come over the time.
const (
	selectTemplate = "SELECT m.mailbox_id, m.id FROM message m JOIN mailbox b ON b.id = m.mailbox_id WHERE b.address = $1 ORDER BY m.id"
	insertCopies   = `INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, internal, detail, crc, blob)
		SELECT b.id, m.id, m.received_at, m.size, m.seen, m.has_code, m.raw_ref, m.raw_until, m.summary, m.internal, m.detail, m.crc, m.blob
		FROM message m JOIN mailbox b ON b.id <> m.mailbox_id WHERE m.mailbox_id = $1 AND m.id = $2`
	updateCopies = `UPDATE mailbox SET (message_count, unread_count, last_message_at, day, day_count) =
		(SELECT t.message_count, t.unread_count, t.last_message_at, t.day, t.day_count FROM mailbox t WHERE t.id = $1) WHERE id <> $1`
	vacuum = "VACUUM (ANALYZE)"

	updateExpiring = "UPDATE mailbox SET expires_at = $1 WHERE local_part LIKE 'box-%' AND substr(local_part, 11, 1) < $2"
	countExpired   = `SELECT (SELECT count(*) FROM mailbox WHERE ended_at IS NULL AND expires_at <= $1) +
		(SELECT count(*) FROM mailbox WHERE ended_at IS NOT NULL)`
)

// openStore opens the database of a service beside it. Writing without a journal is for SQLite's while the service is stopped.
func openStore(dir string, server *dbtest.Server, write bool) (*sql.DB, error) {
	if server != nil {
		return sql.Open("pgx", server.URL("bench"))
	}
	dsn := "file:" + dir + "/gonebox.db?_pragma=busy_timeout(10000)"
	if write {
		dsn += "&_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=cache_size(-400000)"
	}
	store, err := sql.Open("sqlite", dsn)
	if err == nil {
		store.SetMaxOpenConns(1)
	}
	return store, err
}

// template returns the mailbox at an address, and its messages.
func template(ctx context.Context, store *sql.DB, address string) (box string, messages []string, err error) {
	rows, err := store.QueryContext(ctx, selectTemplate, address)
	if err != nil {
		return "", nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var message string
		if err := rows.Scan(&box, &message); err != nil {
			return "", nil, err
		}
		messages = append(messages, message)
	}
	return box, messages, rows.Err()
}

// copyMessages gives all mailboxes the messages of the one at an address.
func copyMessages(ctx context.Context, store *sql.DB, address string, postgres bool, note func(string, ...any)) error {
	box, messages, err := template(ctx, store, address)
	if err != nil {
		return err
	}
	if len(messages) != perBox {
		return fmt.Errorf("%s has %d messages", address, len(messages))
	}
	for i, message := range messages {
		if _, err := store.ExecContext(ctx, insertCopies, box, message); err != nil {
			return err
		}
		note("growth: message %d of %d in all mailboxes", i+1, perBox)
	}
	if _, err = store.ExecContext(ctx, updateCopies, box); err == nil && postgres {
		_, err = store.ExecContext(ctx, vacuum)
	}
	return err
}

// expireSome lets the mailboxes expire whose number ends with a digit below the given one.
func expireSome(ctx context.Context, store *sql.DB, below string) error {
	_, err := store.ExecContext(ctx, updateExpiring, time.Now().UnixMicro(), below)
	return err
}

// expired counts the mailboxes that have expired and are not erased.
func expired(ctx context.Context, store *sql.DB) (n int, err error) {
	err = store.QueryRowContext(ctx, countExpired, time.Now().UnixMicro()).Scan(&n)
	return n, err
}
