package sink

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
)

const columns = "id, number, change, received_at, size, seen, gone, mail"

const (
	// upsertState locks the row until the end of the transaction, so that changes are numbered in the order of their
	// commits.
	upsertState = `INSERT INTO sink_state (id, changes, forgotten) VALUES (1, $1, 0)
		ON CONFLICT (id) DO UPDATE SET changes = sink_state.changes + excluded.changes RETURNING changes`
	selectState     = "SELECT coalesce(max(changes), 0), coalesce(max(forgotten), 0) FROM sink_state"
	updateForgotten = "UPDATE sink_state SET forgotten = $1 WHERE forgotten < $1"

	insertMail = "INSERT INTO sink_mail (id, number, change, received_at, size, seen, gone, mail) VALUES ($1, $2, $3, $4, $5, 0, 0, $6)"
	insertCopy = "INSERT INTO sink_copy (mailbox_id, message_id, sink_id) VALUES ($1, $2, $3)"

	selectAll = "SELECT " + columns + " FROM sink_mail WHERE gone = 0 ORDER BY number DESC LIMIT $1"
	// selectChanged includes the rows of deleted mails, which is how other processes learn of the deletion.
	selectChanged = "SELECT " + columns + " FROM sink_mail WHERE change > $1 ORDER BY change, number"
	selectMails   = "SELECT " + columns + " FROM sink_mail WHERE gone = 0 AND id IN "
	selectCopies  = "SELECT mailbox_id, message_id FROM sink_copy WHERE sink_id IN "
	selectCopy    = "SELECT mailbox_id, message_id FROM sink_copy WHERE sink_id = $1 ORDER BY message_id LIMIT 1"

	updateSeen  = "UPDATE sink_mail SET seen = $1, change = $2 WHERE gone = 0 AND seen <> $1 AND id IN "
	deleteSwept = "DELETE FROM sink_mail WHERE gone = 1 AND change <= $1"
)

// row is a row of sink_mail. The Summary and searchedText of a deleted mail are not set.
type row struct {
	Mail
	change       int64 // the number of its last change
	deleted      bool
	searchedText string // storedMail.Text
}

// scan scans columns. It does not decode the content of a deleted mail.
func scan(r db.Row) (*row, error) {
	var v row
	var received int64
	var text string
	if err := r.Scan(&v.ID, &v.Number, &v.change, &received, &v.Size, &v.Seen, &v.deleted, &text); err != nil {
		return nil, err
	}
	v.ReceivedAt = db.Moment(received)
	if v.deleted {
		return &v, nil
	}
	var s storedMail
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("decode the mail %s of the sink: %w", v.ID, err)
	}
	v.Summary, v.searchedText = s.Summary, s.Text
	return &v, nil
}

// changeTx reserves numbers for as many changes and returns the last one. It locks the row of sink_state until the
// transaction ends, so that changes are committed in the order of their numbers.
func changeTx(ctx context.Context, tx *db.Tx, changes int) (last int64, err error) {
	if err := tx.QueryRow(ctx, upsertState, changes).Scan(&last); err != nil {
		return 0, fmt.Errorf("count changes of the sink: %w", err)
	}
	return last, nil
}

// readState returns the number of the last change, and the number of the change up to which Sweep has removed the rows
// of deleted mails.
func readState(ctx context.Context, q db.Queryer) (lastChange, sweptUpTo int64, err error) {
	if err := q.QueryRow(ctx, selectState).Scan(&lastChange, &sweptUpTo); err != nil {
		return 0, 0, fmt.Errorf("read the state of the sink: %w", err)
	}
	return lastChange, sweptUpTo, nil
}

// forEachRow calls fn with every row of a query while it reads them, since there may be too many to collect. fn must not
// use the database.
func forEachRow(ctx context.Context, q db.Queryer, fn func(*row), query string, args ...any) error {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read the mail of the sink: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return fmt.Errorf("read the mail of the sink: %w", err)
		}
		fn(v)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the mail of the sink: %w", err)
	}
	return nil
}

func scanRef(r db.Row) (ref message.Ref, err error) {
	err = r.Scan(&ref.Box, &ref.Message)
	return ref, err
}

// copiesOf returns all messages of the given mails.
func copiesOf(ctx context.Context, q db.Queryer, mails []id.SinkMail) ([]message.Ref, error) {
	list, args := db.In(1, mails)
	refs, err := db.Collect(ctx, q, scanRef, selectCopies+list, args...)
	if err != nil {
		return nil, fmt.Errorf("read the messages of the sink: %w", err)
	}
	return refs, nil
}

// mailRows collects rows of sink_mail, column by column.
type mailRows struct {
	ids, mails                       db.Texts
	numbers, changes, received, size db.Numbers
}

func (r *mailRows) add(a Arrival, number int64) {
	r.ids, r.mails = append(r.ids, string(a.ID)), append(r.mails, a.json)
	r.numbers, r.changes = append(r.numbers, number), append(r.changes, number)
	r.received, r.size = append(r.received, a.At.UnixMicro()), append(r.size, a.size)
}

func (r *mailRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertMail, r.ids, r.numbers, r.changes, r.received, r.size, r.mails)
}

// copyRows collects rows of sink_copy, column by column.
type copyRows struct{ boxes, messages, mails db.Texts }

func (r *copyRows) add(c message.Ref, mail id.SinkMail) {
	r.boxes, r.messages, r.mails = append(r.boxes, string(c.Box)), append(r.messages, string(c.Message)), append(r.mails, string(mail))
}

func (r *copyRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertCopy, r.boxes, r.messages, r.mails)
}
