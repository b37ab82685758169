package message

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// The columns that scanStored reads, and those that scanEncoded reads.
const (
	summaryColumns = "id, received_at, " + encodedColumns + ", internal"
	encodedColumns = "seen, summary"
)

// The columns of a detail, whole if it is short, and otherwise its beginning: a client can make many calls at the same time, and what
// they read before memory is reserved for it is bounded.
const detailColumns = "COALESCE(length(detail), 0), CASE WHEN length(detail) <= 16384 THEN detail ELSE substr(detail, 1, 16) END, crc, blob"

// unlessKept is detailColumns without the detail where the program $3 keeps what it made of it.
const unlessKept = "COALESCE(length(detail), 0), CASE WHEN shown_by = $3 AND length(shown) > 0 THEN NULL WHEN length(detail) <= 16384 THEN detail ELSE substr(detail, 1, 16) END, crc, blob"

const (
	insertMessages = `INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, internal, detail, crc, blob)
		VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10, $11, $12)`
	insertAttachments = "INSERT INTO attachment (mailbox_id, message_id, id, data, crc, blob) VALUES ($1, $2, $3, $4, $5, $6)"

	selectList = "SELECT " + encodedColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND id < $3 AND received_at >= $4 ORDER BY id DESC LIMIT $5`
	selectNewestCode = "SELECT " + encodedColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND received_at >= $3 AND has_code = 1 ORDER BY id DESC LIMIT 1`
	selectMatching = "SELECT " + summaryColumns + ` FROM message
		WHERE mailbox_id = $1 AND id > $2 AND id < $3 AND received_at >= $4 AND has_code >= $5 AND seen <= $6 ORDER BY id DESC LIMIT $7`
	selectNumbered   = "SELECT " + summaryColumns + " FROM message WHERE mailbox_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3"
	selectSize       = "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM message WHERE mailbox_id = $1"
	selectSummary    = "SELECT " + summaryColumns + " FROM message WHERE mailbox_id = $1 AND id = $2"
	selectMessage    = "SELECT " + summaryColumns + ", raw_until, CASE WHEN shown_by = $3 THEN shown END, " + unlessKept + " FROM message WHERE mailbox_id = $1 AND id = $2"
	selectDetailLen  = "SELECT " + detailColumns + " FROM message WHERE mailbox_id = $1 AND id = $2"
	selectRaw        = "SELECT raw_ref, raw_until FROM message WHERE mailbox_id = $1 AND id = $2"
	selectDetail     = "SELECT detail, crc, blob FROM message WHERE mailbox_id = $1 AND id = $2"
	selectAttachment = "SELECT data, crc, blob FROM attachment WHERE mailbox_id = $1 AND message_id = $2 AND id = $3"
	// selectAttachments has those that are not stored together with the detail.
	selectAttachments = "SELECT id, data, crc, blob FROM attachment WHERE mailbox_id = $1 AND message_id = $2 ORDER BY id"
	selectSeen        = "SELECT seen FROM message WHERE mailbox_id = $1 AND id = $2"
	selectBlobs       = "SELECT blob FROM message WHERE mailbox_id = $1 AND id = $2 UNION ALL SELECT blob FROM attachment WHERE mailbox_id = $1 AND message_id = $2"
	selectAged        = "SELECT id, received_at, size FROM message WHERE mailbox_id = $1 ORDER BY id DESC"
	selectAgedClient  = "SELECT id, received_at, size, internal FROM message WHERE mailbox_id = $1 ORDER BY id DESC"
	selectOldest      = "SELECT mailbox_id, id FROM message WHERE mailbox_id = $1 AND id < $2 ORDER BY id LIMIT $3"
	selectStored      = "SELECT count(*) FROM message WHERE mailbox_id = $1 AND id = $2"

	updateSeen = "UPDATE message SET seen = $3 WHERE mailbox_id = $1 AND id = $2"
	updateRead = "UPDATE message SET seen = 1, shown = $3, shown_by = $4 WHERE mailbox_id = $1 AND id = $2"
	// The messages of a list of pairs of mailbox and message.
	selectRows       = "SELECT " + summaryColumns + " FROM message WHERE (mailbox_id, id) IN (VALUES %s) ORDER BY id DESC"
	selectSearched   = "SELECT " + summaryColumns + ", detail, crc, blob FROM message WHERE (mailbox_id, id) IN (VALUES %s) ORDER BY id DESC"
	selectReferences = "SELECT " + referenceColumns + " FROM message WHERE (mailbox_id, id) IN (VALUES %s) ORDER BY id DESC"
	updateSeenMany   = "UPDATE message SET seen = %d WHERE (mailbox_id, id) IN (VALUES %s)"
	updateSummary    = "UPDATE message SET summary = new.summary FROM (SELECT $1 AS box, $2 AS id, $3 AS summary) AS new WHERE message.mailbox_id = new.box AND message.id = new.id"
	selectSummaries  = "SELECT " + encodedColumns + " FROM message WHERE (mailbox_id, id) IN (VALUES %s) ORDER BY mailbox_id, id"
	selectMany       = "SELECT mailbox_id, id, seen FROM message WHERE (mailbox_id, id) IN (VALUES %s) ORDER BY mailbox_id, id"
	selectManyBlobs  = "SELECT blob FROM message WHERE (mailbox_id, id) IN (VALUES %[1]s) UNION ALL SELECT blob FROM attachment WHERE (mailbox_id, message_id) IN (VALUES %[1]s)"
	deleteManyFiles  = "DELETE FROM attachment WHERE (mailbox_id, message_id) IN (VALUES %s)"
	deleteMany       = "DELETE FROM message WHERE (mailbox_id, id) IN (VALUES %s)"

	deleteMessage     = "DELETE FROM message WHERE mailbox_id = $1 AND id = $2"
	deleteAttachments = "DELETE FROM attachment WHERE mailbox_id = $1 AND message_id = $2"
)

// referenceColumns are what scanReference reads.
const referenceColumns = "mailbox_id, id, size, seen"

// selectNewestOf selects the newest messages of one mailbox of a list, from the primary key alone unless there is a condition; newestQuery
// joins one for each.
const selectNewestOf = "SELECT mailbox_id, id FROM (SELECT mailbox_id, id FROM message" +
	" WHERE mailbox_id = $%[1]d AND id > $1 AND id < $2%[2]s ORDER BY id DESC LIMIT $3) AS newest_%[1]d"

// newestQuery returns the statement that selects, of each of n mailboxes, the newest messages of a span.
func newestQuery(n int, span Span) string {
	const first = 4 // the placeholder of the first mailbox
	condition := ""
	if span.Code {
		condition += " AND has_code = 1"
	}
	if span.Unseen {
		condition += " AND seen = 0"
	}
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(selectNewestOf, first+i, condition)
	}
	return strings.Join(parts, " UNION ALL ")
}

func scanRef(row db.Row) (r Ref, err error) {
	err = row.Scan(&r.Box, &r.Message)
	return r, err
}

// scanReference reads referenceColumns.
func scanReference(row db.Row) (r Stored, err error) {
	err = row.Scan(&r.Box, &r.Message, &r.Size, &r.Seen)
	return r, err
}

// selectInserted selects how many messages were ever inserted, from PostgreSQL's statistics. Processes add to them about once a second.
const selectInserted = "SELECT pg_stat_get_tuples_inserted('message'::regclass)"

// selectNewer selects messages of a list of mailboxes, oldest first.
const selectNewer = "SELECT " + summaryColumns + " FROM message WHERE mailbox_id IN %s AND id > $%d AND id <= $%d ORDER BY id LIMIT $%d"

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

// scanEncoded reads encodedColumns.
func scanEncoded(row db.Row) (e Encoded, err error) {
	err = row.Scan(&e.seen, &e.stored)
	return e, err
}

// scanSummary reads summaryColumns.
func scanSummary(row db.Row) (Summary, error) {
	m, err := scanStored(row)
	return m.Summary, err
}

// storedSummary is what summaryColumns hold, with the summary decoded.
type storedSummary struct {
	Summary
	storedRow
}

// storedRow is what summaryColumns hold.
type storedRow struct {
	internal
	message  id.Message
	received int64
	encoded  Encoded
}

// scanStored reads summaryColumns.
func scanStored(row db.Row) (m storedSummary, err error) {
	if m.storedRow, err = scanRow(row); err == nil {
		m.Summary, err = m.decode()
	}
	return m, err
}

// scanRow reads summaryColumns, and what more the statement selects.
func scanRow(row db.Row, more ...any) (r storedRow, err error) {
	var rest string
	if err := row.Scan(append([]any{&r.message, &r.received, &r.encoded.seen, &r.encoded.stored, &rest}, more...)...); err != nil {
		return r, err
	}
	return r, r.decodeInternal(rest)
}

// decodeInternal decodes the column internal of a row.
func (r *storedRow) decodeInternal(rest string) error {
	if err := json.Unmarshal([]byte(rest), &r.internal); err != nil {
		return fmt.Errorf("decode what is stored of %s: %w", r.message, err)
	}
	return nil
}

// decode returns the summary of a row.
func (r *storedRow) decode() (m Summary, err error) {
	m, err = r.encoded.Decode()
	m.ID, m.ReceivedAt, m.HeaderID = r.message, clock.Micro(r.received), r.MessageID // the time to the microsecond
	return m, err
}

// Inserted returns how many messages all processes have inserted since PostgreSQL's statistics were reset, about a second late.
// It cannot be used on SQLite.
func (s *Service) Inserted(ctx context.Context) (n int64, err error) {
	if err = s.db.QueryRow(ctx, selectInserted).Scan(&n); err != nil {
		return 0, fmt.Errorf("read the statistics of messages: %w", err)
	}
	return n, nil
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
		m, err := scanEncoded(rows)
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

// newestCode returns the newest code of a mailbox, or "".
func (s *Service) newestCode(ctx context.Context, box id.Mailbox, q CodeQuery) (EncodedCode, error) {
	m, err := scanEncoded(s.db.QueryRow(ctx, selectNewestCode, box, q.After, Query{Since: q.Since}.since()))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look for a code in %s: %w", box, err)
	}
	return m.code(), nil
}

// matching selects messages of a part of a mailbox: those between two identifiers that a Match accepts.
type matching struct {
	match         *matcher
	after, before id.Message
	since         int64
	limit         int // messages to read
}

// eachMatching calls fn with those of the newest messages of a part of a mailbox that match, until fn returns false. It returns
// how many it has read, the newest and the oldest of them, and how many octets they had.
func (s *Service) eachMatching(ctx context.Context, box id.Mailbox, m matching, fn func(*storedSummary) bool) (r read, err error) {
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
		found, err := scanStored(rows)
		if err != nil {
			return r, fmt.Errorf("search messages of %s: %w", box, err)
		}
		r.add(&found)
		if m.match.accepts(&found) && !fn(&found) {
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
