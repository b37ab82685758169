package sink

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
)

const (
	stateColumns = "id, number, change, seen, gone, tags"
	columns      = "id, number, change, received_at, size, seen, gone, tags, mail"
)

const (
	// upsertState locks the row until the end of the transaction, so that changes are numbered in the order of their
	// commits.
	upsertState = `INSERT INTO sink_state (id, changes, forgotten) VALUES (1, $1, 0)
		ON CONFLICT (id) DO UPDATE SET changes = sink_state.changes + excluded.changes RETURNING changes`
	selectState     = "SELECT coalesce(max(changes), 0), coalesce(max(forgotten), 0) FROM sink_state"
	updateForgotten = "UPDATE sink_state SET forgotten = $1 WHERE forgotten < $1"

	insertMail = "INSERT INTO sink_mail (id, project_id, number, change, received_at, size, seen, gone, tags, mail) VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $8)"
	insertCopy = "INSERT INTO sink_copy (mailbox_id, message_id, sink_id) VALUES ($1, $2, $3)"

	selectAll   = "SELECT " + columns + " FROM sink_mail WHERE gone = 0"
	newestMails = " ORDER BY number DESC LIMIT $1"
	// selectArrived has the mails that arrived after the one numbered $1, up to $2, and were not deleted.
	selectArrived = "SELECT " + columns + " FROM sink_mail WHERE gone = 0 AND number > $1 AND number <= $2"
	firstMails    = " ORDER BY number LIMIT $3"
	// selectChanged has the states of the mails up to number $4 that were marked or deleted after the change $1 of the
	// mail $2, up to the change $3. It includes deleted mails, which is how other processes learn of the deletion.
	selectChanged = "SELECT " + stateColumns + ` FROM sink_mail
		WHERE change >= $1 AND (change > $1 OR number > $2) AND change <= $3 AND number <= $4`
	firstChanges  = " ORDER BY change, number LIMIT $5"
	selectMails   = "SELECT " + columns + " FROM sink_mail WHERE gone = 0 AND id IN "
	orderMails    = " ORDER BY number DESC" // as lists have them
	selectCopies  = "SELECT mailbox_id, message_id FROM sink_copy WHERE sink_id IN "
	selectMailsOf = `SELECT c.mailbox_id, c.message_id, m.id, m.project_id FROM sink_copy c JOIN sink_mail m ON m.id = c.sink_id
		WHERE m.gone = 0 AND (c.mailbox_id, c.message_id) IN (VALUES %s)`
	selectOwn  = "SELECT id FROM sink_mail WHERE project_id = $1 AND id IN "
	selectCopy = "SELECT mailbox_id, message_id FROM sink_copy WHERE sink_id = $1 ORDER BY message_id LIMIT 1"

	// selectSeenOtherwise has those of some mails that are not marked as $1.
	selectSeenOtherwise = "SELECT id FROM sink_mail WHERE gone = 0 AND seen <> $1 AND id IN "

	updateSeen  = "UPDATE sink_mail SET seen = $1, change = $2 WHERE gone = 0 AND seen <> $1 AND id IN "
	selectTags  = "SELECT id, tags FROM sink_mail WHERE gone = 0 AND id IN "
	updateTags  = "UPDATE sink_mail SET tags = $1, change = $2 WHERE gone = 0 AND id IN "
	deleteSwept = "DELETE FROM sink_mail WHERE gone = 1 AND change <= $1"
)

// row is a row of sink_mail. The Summary and searchedText of a deleted mail are not set.
type row struct {
	Mail
	change       int64 // the number of its last change
	deleted      bool
	searchedText string // storedMail.Text
	octets       int    // of the stored form
}

// scan scans columns. It does not decode the content of a deleted mail.
func scan(r db.Row) (*row, error) {
	var v row
	var received int64
	var text, tags string
	if err := r.Scan(&v.ID, &v.Number, &v.change, &received, &v.Size, &v.Seen, &v.deleted, &tags, &text); err != nil {
		return nil, err
	}
	v.ReceivedAt, v.octets = db.Moment(received), len(text)+len(tags)
	if v.deleted {
		return &v, nil
	}
	var err error
	if v.Tags, err = decodeTags(tags); err != nil {
		return nil, fmt.Errorf("decode the tags of %s: %w", v.ID, err)
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

// state is what can change of a mail: a part of its row that is read without its content.
type state struct {
	id             id.SinkMail
	number, change int64
	seen, deleted  bool
	tags           []string
}

func scanState(r db.Row) (v state, err error) {
	var tags string
	if err = r.Scan(&v.id, &v.number, &v.change, &v.seen, &v.deleted, &tags); err == nil {
		v.tags, err = decodeTags(tags)
	}
	return v, err
}

// encodeTags returns tags as they are stored.
func encodeTags(tags []string) (string, error) {
	if len(tags) == 0 {
		return "", nil
	}
	text, err := json.Marshal(tags)
	return string(text), err
}

// decodeTags is the inverse of encodeTags.
func decodeTags(text string) (tags []string, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &tags)
	}
	return tags, err
}

func scanID(r db.Row) (mail id.SinkMail, err error) {
	err = r.Scan(&mail)
	return mail, err
}

// forEachRow calls fn with every row of a query while it reads them, since there may be too many to collect, until fn
// returns false. fn must not use the database.
func forEachRow(ctx context.Context, q db.Queryer, fn func(*row) bool, query string, args ...any) error {
	return forEach(ctx, q, scan, fn, query, args...)
}

// forEachState is forEachRow for the states of mails.
func forEachState(ctx context.Context, q db.Queryer, fn func(state) bool, query string, args ...any) error {
	return forEach(ctx, q, scanState, fn, query, args...)
}

func forEach[T any](ctx context.Context, q db.Queryer, scan func(db.Row) (T, error), fn func(T) bool, query string, args ...any) error {
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
		if !fn(v) {
			return nil
		}
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

// mailOf is a mail that a message was delivered with.
type mailOf struct {
	message message.Ref
	mail    id.SinkMail
	project id.Project // "": the sink
}

func scanMailOf(r db.Row) (m mailOf, err error) {
	err = r.Scan(&m.message.Box, &m.message.Message, &m.mail, &m.project)
	return m, err
}

// mailsOf is the inverse of copiesOf. A message that is not of the sink is not among the result.
func mailsOf(ctx context.Context, q db.Queryer, messages []message.Ref) ([]mailOf, error) {
	pairs, args := message.Pairs(messages)
	mails, err := db.Collect(ctx, q, scanMailOf, fmt.Sprintf(selectMailsOf, pairs), args...)
	if err != nil {
		return nil, fmt.Errorf("read the mails of %d messages: %w", len(messages), err)
	}
	return mails, nil
}

// mailRows collects rows of sink_mail, column by column.
type mailRows struct {
	ids, projects, tags, mails       db.Texts
	numbers, changes, received, size db.Numbers
}

func (r *mailRows) add(a Arrival, number int64) error {
	tags, err := encodeTags(a.Tags)
	r.ids, r.projects, r.tags, r.mails = append(r.ids, string(a.ID)), append(r.projects, string(a.Project)), append(r.tags, tags), append(r.mails, a.json)
	r.numbers, r.changes = append(r.numbers, number), append(r.changes, number)
	r.received, r.size = append(r.received, a.At.UnixMicro()), append(r.size, a.size)
	return err
}

func (r *mailRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertMail, r.ids, r.projects, r.numbers, r.changes, r.received, r.size, r.tags, r.mails)
}

// copyRows collects rows of sink_copy, column by column.
type copyRows struct{ boxes, messages, mails db.Texts }

func (r *copyRows) add(c message.Ref, mail id.SinkMail) {
	r.boxes, r.messages, r.mails = append(r.boxes, string(c.Box)), append(r.messages, string(c.Message)), append(r.mails, string(mail))
}

func (r *copyRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertCopy, r.boxes, r.messages, r.mails)
}
