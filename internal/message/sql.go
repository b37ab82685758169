package message

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const summaryColumns = "id, received_at, size, seen, summary"

const (
	insertMessages = `INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, detail, crc, blob)
		VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10, $11)`
	insertAttachments = "INSERT INTO attachment (mailbox_id, message_id, id, data, crc, blob) VALUES ($1, $2, $3, $4, $5, $6)"

	selectList = "SELECT " + summaryColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND id < $3 AND received_at >= $4 ORDER BY id DESC LIMIT $5`
	selectMatching = "SELECT " + summaryColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND id < $3 AND received_at >= $4 AND has_code >= $5 AND seen <= $6 ORDER BY id DESC LIMIT $7`
	selectCodes = "SELECT " + summaryColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND received_at >= $3 AND has_code = 1 ORDER BY id DESC`
	selectNumbered   = "SELECT " + summaryColumns + " FROM message WHERE mailbox_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3"
	selectSize       = "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM message WHERE mailbox_id = $1"
	selectSummary    = "SELECT " + summaryColumns + " FROM message WHERE mailbox_id = $1 AND id = $2"
	selectMessage    = "SELECT " + summaryColumns + ", raw_until, detail, crc, blob FROM message WHERE mailbox_id = $1 AND id = $2"
	selectDetailLen  = "SELECT COALESCE(length(detail), 0), substr(detail, 1, 16), blob FROM message WHERE mailbox_id = $1 AND id = $2"
	selectRaw        = "SELECT raw_ref, raw_until FROM message WHERE mailbox_id = $1 AND id = $2"
	selectDetail     = "SELECT detail, crc, blob FROM message WHERE mailbox_id = $1 AND id = $2"
	selectAttachment = "SELECT data, crc, blob FROM attachment WHERE mailbox_id = $1 AND message_id = $2 AND id = $3"
	selectSeen       = "SELECT seen FROM message WHERE mailbox_id = $1 AND id = $2"
	selectBlobs      = "SELECT blob FROM message WHERE mailbox_id = $1 AND id = $2 UNION ALL SELECT blob FROM attachment WHERE mailbox_id = $1 AND message_id = $2"
	selectAged       = "SELECT id, received_at, size FROM message WHERE mailbox_id = $1 ORDER BY id DESC"
	selectStored     = "SELECT count(*) FROM message WHERE mailbox_id = $1 AND id = $2"

	updateSeen = "UPDATE message SET seen = $3 WHERE mailbox_id = $1 AND id = $2"
	// The messages of a list of pairs of mailbox and message.
	selectMany      = "SELECT mailbox_id, id, seen FROM message WHERE (mailbox_id, id) IN (VALUES %s) ORDER BY mailbox_id, id"
	selectManyBlobs = "SELECT blob FROM message WHERE (mailbox_id, id) IN (VALUES %[1]s) UNION ALL SELECT blob FROM attachment WHERE (mailbox_id, message_id) IN (VALUES %[1]s)"
	deleteManyFiles = "DELETE FROM attachment WHERE (mailbox_id, message_id) IN (VALUES %s)"
	deleteMany      = "DELETE FROM message WHERE (mailbox_id, id) IN (VALUES %s)"

	deleteMessage     = "DELETE FROM message WHERE mailbox_id = $1 AND id = $2"
	deleteAttachments = "DELETE FROM attachment WHERE mailbox_id = $1 AND message_id = $2"
)

// selectNewer selects messages of a list of mailboxes, oldest first.
const selectNewer = "SELECT " + summaryColumns + ", mailbox_id FROM message WHERE mailbox_id IN %s AND id > $%d ORDER BY id LIMIT $%d"

// The messages of a list of mailboxes to erase: the first by mailbox and identifier, up to a given one.
const (
	selectErasable = "SELECT mailbox_id, id, size FROM message WHERE mailbox_id IN %s ORDER BY mailbox_id, id LIMIT $%d"
	selectErased   = "SELECT blob FROM message WHERE mailbox_id IN %[1]s AND (mailbox_id, id) <= ($%[2]d, $%[3]d) " +
		"UNION ALL SELECT blob FROM attachment WHERE mailbox_id IN %[1]s AND (mailbox_id, message_id) <= ($%[2]d, $%[3]d)"
	eraseMessages    = "DELETE FROM message WHERE mailbox_id IN %s AND (mailbox_id, id) <= ($%d, $%d)"
	eraseAttachments = "DELETE FROM attachment WHERE mailbox_id IN %s AND (mailbox_id, message_id) <= ($%d, $%d)"
)

func scanErasable(row db.Row) (e erasable, err error) {
	err = row.Scan(&e.box, &e.message, &e.size)
	return e, err
}

// scanSummary reads summaryColumns. It cuts what Draft.Summary cuts.
func scanSummary(row db.Row, box id.Mailbox) (Summary, error) {
	m, kept, err := scanStored(row, box)
	kept = kept.cut()
	kept.show(&m)
	return m, err
}

// scanStored reads summaryColumns, and what more the statement selects. The fields that stored has are not shown yet.
func scanStored(row db.Row, box id.Mailbox, more ...any) (m Summary, kept stored, err error) {
	m.MailboxID = box
	var received int64
	var text string
	if err := row.Scan(append([]any{&m.ID, &received, &m.Size, &m.Seen, &text}, more...)...); err != nil {
		return m, kept, err
	}
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return m, kept, fmt.Errorf("decode the summary of %s: %w", m.ID, err)
	}
	m.ReceivedAt = clock.Micro(received)
	return m, kept, nil
}

// list returns an empty list for nil: the API has no null lists.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// summaries reads a page. It reads one row at a time, so that it can stop at Query.Octets.
func (s *Service) summaries(ctx context.Context, box id.Mailbox, q Query, before id.Message) (p Page, err error) {
	rows, err := s.db.Query(ctx, selectList, box, q.After, before, q.since(), q.Limit+1)
	if err != nil {
		return p, fmt.Errorf("list messages of %s: %w", box, err)
	}
	defer rows.Close()
	for rows.Next() {
		m, err := scanSummary(rows, box)
		if err != nil {
			return p, fmt.Errorf("list messages of %s: %w", box, err)
		}
		if !p.add(m, q) {
			return p, nil
		}
	}
	if err := rows.Err(); err != nil {
		return p, fmt.Errorf("list messages of %s: %w", box, err)
	}
	return p, nil
}

// matching is a part of a mailbox, of which the messages that match are wanted.
type matching struct {
	match         *matcher
	after, before id.Message
	since         int64
	limit         int // messages to read
}

// eachMatching calls fn with those of the newest messages of a part of a mailbox that match, until fn returns false. It returns
// how many it has read, the newest and the oldest of them, and how many octets they had.
func (s *Service) eachMatching(ctx context.Context, box id.Mailbox, m matching, fn func(Summary) bool) (r read, err error) {
	code, seen := 0, 1
	if m.match.Code {
		code = 1
	}
	if m.match.Unseen {
		seen = 0
	}
	rows, err := s.db.Query(ctx, selectMatching, box, m.after, m.before, m.since, code, seen, m.limit)
	if err != nil {
		return r, fmt.Errorf("search messages of %s: %w", box, err)
	}
	defer rows.Close()
	for rows.Next() {
		summary, kept, err := scanStored(rows, box)
		if err != nil {
			return r, fmt.Errorf("search messages of %s: %w", box, err)
		}
		kept = kept.cut()
		kept.show(&summary)
		r.add(&summary)
		if m.match.accepts(&kept) && !fn(summary) {
			r.stopped = true
			return r, nil
		}
	}
	if err := rows.Err(); err != nil {
		return r, fmt.Errorf("search messages of %s: %w", box, err)
	}
	return r, nil
}

// deleteTx removes one message with its attachments.
func deleteTx(ctx context.Context, tx *db.Tx, box id.Mailbox, m id.Message) error {
	if err := blob.LockTx(ctx, tx, selectBlobs, box, m); err != nil {
		return err
	}
	for _, statement := range []string{deleteAttachments, deleteMessage} {
		if err := tx.Queue(ctx, statement, box, m); err != nil {
			return err
		}
	}
	return nil
}
