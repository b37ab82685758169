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
	// This locks the row until the end of the transaction, and so numbers changes in the order of their commits.
	upsertState = `INSERT INTO sink_state (id, changes, forgotten) VALUES (1, $1, 0)
		ON CONFLICT (id) DO UPDATE SET changes = sink_state.changes + excluded.changes RETURNING changes`
	selectState     = "SELECT coalesce(max(changes), 0), coalesce(max(forgotten), 0) FROM sink_state"
	updateForgotten = "UPDATE sink_state SET forgotten = $1 WHERE forgotten < $1"

	insertMail = "INSERT INTO sink_mail (id, number, change, received_at, size, seen, gone, mail) VALUES ($1, $2, $3, $4, $5, 0, 0, $6)"
	insertCopy = "INSERT INTO sink_copy (mailbox_id, message_id, sink_id) VALUES ($1, $2, $3)"

	selectAll = "SELECT " + columns + " FROM sink_mail WHERE gone = 0 ORDER BY number DESC LIMIT $1"
	// Rows of mails that are gone are included: that is how other processes learn of it.
	selectChanged = "SELECT " + columns + " FROM sink_mail WHERE change > $1 ORDER BY change, number"
	selectMails   = "SELECT " + columns + " FROM sink_mail WHERE gone = 0 AND id IN "
	selectCopies  = "SELECT mailbox_id, message_id FROM sink_copy WHERE sink_id IN "
	selectCopy    = "SELECT mailbox_id, message_id FROM sink_copy WHERE sink_id = $1 ORDER BY message_id LIMIT 1"

	updateSeen = "UPDATE sink_mail SET seen = $1, change = $2 WHERE gone = 0 AND seen <> $1 AND id IN "
	deleteGone = "DELETE FROM sink_mail WHERE gone = 1 AND change <= $1"
)

// row is a row of sink_mail.
type row struct {
	Mail
	change int64
	gone   bool
	text   string
}

// scan reads columns, in their order. Of a mail that is gone the content is not decoded.
func scan(r db.Row) (*row, error) {
	var v row
	var received int64
	var text string
	if err := r.Scan(&v.ID, &v.Number, &v.change, &received, &v.Size, &v.Seen, &v.gone, &text); err != nil {
		return nil, err
	}
	v.ReceivedAt = db.Moment(received)
	if v.gone {
		return &v, nil
	}
	var s stored
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("decode the mail %s of the sink: %w", v.ID, err)
	}
	v.Summary, v.text = s.Summary, s.Text
	return &v, nil
}

// changeTx counts changes and returns the number of the last one. It locks the state until the transaction ends, so that changes
// are committed in the order of their numbers.
func changeTx(ctx context.Context, tx *db.Tx, changes int) (last int64, err error) {
	if err := tx.QueryRow(ctx, upsertState, changes).Scan(&last); err != nil {
		return 0, fmt.Errorf("count changes of the sink: %w", err)
	}
	return last, nil
}

// state returns the number of the last change, and the number up to which rows of deleted mails have been removed.
func state(ctx context.Context, q db.Queryer) (changes, forgotten int64, err error) {
	if err := q.QueryRow(ctx, selectState).Scan(&changes, &forgotten); err != nil {
		return 0, 0, fmt.Errorf("read the state of the sink: %w", err)
	}
	return changes, forgotten, nil
}

// each calls fn with every row of a query. The rows are not collected, since there may be many. fn must not use the
// database.
func each(ctx context.Context, q db.Queryer, fn func(*row), query string, args ...any) error {
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

// copiesOf returns the messages of mails.
func copiesOf(ctx context.Context, q db.Queryer, mails []id.SinkMail) ([]message.Ref, error) {
	list, args := db.In(1, mails)
	all, err := db.Collect(ctx, q, scanRef, selectCopies+list, args...)
	if err != nil {
		return nil, fmt.Errorf("read the messages of the sink: %w", err)
	}
	return all, nil
}

// mailRows collects rows of sink_mail, column by column.
type mailRows struct {
	ids, mails                       db.Texts
	numbers, changes, received, size db.Numbers
}

func (r *mailRows) add(a Arrival, number int64) {
	r.ids, r.mails = append(r.ids, string(a.ID)), append(r.mails, a.text)
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
