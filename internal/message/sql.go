package message

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const summaryColumns = "id, received_at, size, seen, summary"

const (
	insertMessages = `INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, detail)
		VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9)`
	insertAttachments = "INSERT INTO attachment (mailbox_id, message_id, id, data) VALUES ($1, $2, $3, $4)"

	selectList = "SELECT " + summaryColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND id < $3 AND received_at >= $4 ORDER BY id DESC LIMIT $5`
	selectCodes = "SELECT " + summaryColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND received_at >= $3 AND has_code = 1 ORDER BY id DESC`
	selectMessage    = "SELECT " + summaryColumns + ", raw_until, detail FROM message WHERE mailbox_id = $1 AND id = $2"
	selectRaw        = "SELECT raw_ref, raw_until FROM message WHERE mailbox_id = $1 AND id = $2"
	selectDetail     = "SELECT detail FROM message WHERE mailbox_id = $1 AND id = $2"
	selectAttachment = "SELECT data FROM attachment WHERE mailbox_id = $1 AND message_id = $2 AND id = $3"
	selectStored     = "SELECT count(*) FROM message WHERE mailbox_id = $1 AND id = $2"

	updateSeen        = "UPDATE message SET seen = 1 WHERE mailbox_id = $1 AND id = $2 AND seen = 0"
	deleteMessage     = "DELETE FROM message WHERE mailbox_id = $1 AND id = $2 RETURNING seen"
	deleteAttachments = "DELETE FROM attachment WHERE mailbox_id = $1 AND message_id = $2"
)

// What is erased of a list of mailboxes: the first messages by mailbox and identifier, up to one of them.
const (
	selectErasable   = "SELECT mailbox_id, id, size FROM message WHERE mailbox_id IN %s ORDER BY mailbox_id, id LIMIT $%d"
	eraseMessages    = "DELETE FROM message WHERE mailbox_id IN %s AND (mailbox_id, id) <= ($%d, $%d)"
	eraseAttachments = "DELETE FROM attachment WHERE mailbox_id IN %s AND (mailbox_id, message_id) <= ($%d, $%d)"
)

func scanErasable(row db.Row) (e erasable, err error) {
	err = row.Scan(&e.box, &e.message, &e.size)
	return e, err
}

// scanSummary reads summaryColumns, and what more the statement selects.
func scanSummary(row db.Row, box id.Mailbox, more ...any) (Summary, []string, error) {
	m := Summary{MailboxID: box}
	var received int64
	var text string
	if err := row.Scan(append([]any{&m.ID, &received, &m.Size, &m.Seen, &text}, more...)...); err != nil {
		return m, nil, err
	}
	var kept stored
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return m, nil, fmt.Errorf("decode the summary of %s: %w", m.ID, err)
	}
	m.ReceivedAt = clock.Micro(received)
	kept.show(&m)
	return m, kept.EnvelopeTo, nil
}

// list makes an absent list an empty one: the interface has no null lists.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (s *Service) summaries(ctx context.Context, box id.Mailbox, q Query, before id.Message, max int) ([]Summary, error) {
	scan := func(row db.Row) (Summary, error) {
		m, _, err := scanSummary(row, box)
		return m, err
	}
	all, err := db.Collect(ctx, s.db, scan, selectList, box, q.After, before, q.since(), max)
	if err != nil {
		return nil, fmt.Errorf("list messages of %s: %w", box, err)
	}
	return all, nil
}

// deleteTx removes one message with its attachments; found is false where there was none.
func (s *Service) deleteTx(ctx context.Context, tx *db.Tx, box id.Mailbox, m id.Message) (seen, found bool, err error) {
	err = tx.QueryRow(ctx, deleteMessage, box, m).Scan(&seen)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	_, err = tx.Exec(ctx, deleteAttachments, box, m)
	return seen, true, err
}
