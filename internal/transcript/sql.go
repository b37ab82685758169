package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// columns are the columns that scan reads.
const columns = "t.id, t.account_id, t.project, t.at, t.refused, t.dialog"

const (
	insertTranscript = "INSERT INTO transcript (id, account_id, project, mailbox_id, at, refused, stored, dialog) VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8)"
	insertMessage    = "INSERT INTO transcript_message (message_id, mailbox_id, transcript_id) VALUES ($1, $2, $3)"
	selectOf         = "SELECT " + columns + ` FROM transcript t JOIN transcript_message m ON m.transcript_id = t.id
		WHERE m.message_id = $1 AND t.at > $2`
	selectRefused = "SELECT " + columns + ` FROM transcript t WHERE t.account_id = $1 AND t.refused = 1 AND t.at > $2 AND ($3 = '' OR t.id < $3)
		ORDER BY t.id DESC LIMIT $4`
	deleteOf  = "DELETE FROM transcript WHERE account_id = $1"
	deleteOld = "DELETE FROM transcript WHERE at <= $1"
	// Of an account that has more than $1, the oldest.
	deleteBeyond = `DELETE FROM transcript WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY id DESC) AS place
		FROM transcript) AS placed WHERE place > $1)`
	deleteMessageless = `DELETE FROM transcript WHERE stored = 1 AND NOT EXISTS (SELECT 1 FROM transcript_message m JOIN message g ON g.mailbox_id = m.mailbox_id AND g.id = m.message_id
		WHERE m.transcript_id = transcript.id)`
	deleteOfEnded = `DELETE FROM transcript WHERE mailbox_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM mailbox b
		WHERE b.id = transcript.mailbox_id AND b.ended_at IS NULL)`
	deleteMessages = "DELETE FROM transcript_message WHERE NOT EXISTS (SELECT 1 FROM transcript t WHERE t.id = transcript_message.transcript_id)"
)

// dialog is what is stored of a transcript as JSON.
type dialog struct {
	From  string   `json:"from"`
	To    []string `json:"to"`
	Lines []Line   `json:"lines"`
}

// insertTx inserts transcripts and their links to messages.
func insertTx(ctx context.Context, tx *db.Tx, all []*Transcript) error {
	for _, t := range all {
		text, err := json.Marshal(dialog{t.From, t.To, t.Lines})
		if err != nil {
			return fmt.Errorf("encode transcript %s: %w", t.ID, err)
		}
		if _, err := tx.Exec(ctx, insertTranscript, t.ID, t.Account, t.Project, t.Mailbox, t.At.UnixMicro(), t.Refused, len(t.Stored) > 0, string(text)); err != nil {
			return err
		}
		for _, m := range t.Stored {
			if _, err := tx.Exec(ctx, insertMessage, m.Message, m.Mailbox, t.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan reads a row that has columns.
func scan(row db.Row) (*Transcript, error) {
	var t Transcript
	var at int64
	var text string
	if err := row.Scan(&t.ID, &t.Account, &t.Project, &at, &t.Refused, &text); err != nil {
		return nil, err
	}
	var d dialog
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("decode transcript %s: %w", t.ID, err)
	}
	t.At, t.From, t.To, t.Lines = time.UnixMicro(at).UTC(), d.From, d.To, d.Lines
	return &t, nil
}

// queryOf reads the transcript of a message that is newer than since, or nil.
func queryOf(ctx context.Context, q db.Queryer, message id.Message, since time.Time) (*Transcript, error) {
	t, err := db.One(ctx, q, scan, selectOf, message, since.UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("read the transcript of %s: %w", message, err)
	}
	return t, nil
}

// queryRefused reads a page of Refused.
func queryRefused(ctx context.Context, q db.Queryer, account id.Account, since time.Time, before id.Transcript, max int) ([]*Transcript, error) {
	all, err := db.Collect(ctx, q, scan, selectRefused, account, since.UnixMicro(), before, max)
	if err != nil {
		return nil, fmt.Errorf("list the transcripts of %s: %w", account, err)
	}
	return all, nil
}

// sweepTx deletes what Sweep says.
func sweepTx(ctx context.Context, tx *db.Tx, oldest time.Time) error {
	if _, err := tx.Exec(ctx, deleteOld, oldest.UnixMicro()); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, deleteBeyond, Max); err != nil {
		return err
	}
	for _, statement := range []string{deleteMessageless, deleteOfEnded, deleteMessages} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
