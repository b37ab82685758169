package outbound

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/raw"
)

const (
	insertMail = `INSERT INTO outgoing_mail (id, account_id, purpose, recipient, mailbox_id, message_id, head, size, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	selectMail = `SELECT id, account_id, purpose, recipient, mailbox_id, message_id, head, size, created_at, expires_at FROM outgoing_mail WHERE id = $1`
	deleteMail = "DELETE FROM outgoing_mail WHERE id = $1"

	selectWaiting = "SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM outgoing_mail WHERE account_id = $1"
	selectOldest  = "SELECT count(*), CAST(coalesce(min(created_at), 0) AS BIGINT) FROM outgoing_mail"
	selectTotal   = "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM outgoing_mail"

	insertChunk  = "INSERT INTO outgoing_chunk (mail_id, number, data) VALUES ($1, $2, $3)"
	selectChunk  = "SELECT data FROM outgoing_chunk WHERE mail_id = $1 AND number = $2"
	deleteChunks = "DELETE FROM outgoing_chunk WHERE mail_id = $1"

	forgetChunks = "DELETE FROM outgoing_chunk WHERE mail_id IN (SELECT id FROM outgoing_mail WHERE account_id = $1)"
	forgetMails  = "DELETE FROM outgoing_mail WHERE account_id = $1"

	sweepMails  = "DELETE FROM outgoing_mail WHERE id IN (SELECT id FROM outgoing_mail WHERE expires_at < $1 LIMIT $2)"
	sweepChunks = `DELETE FROM outgoing_chunk WHERE (mail_id, number) IN
		(SELECT mail_id, number FROM outgoing_chunk WHERE mail_id < $1 AND mail_id NOT IN (SELECT id FROM outgoing_mail) LIMIT $2)`
)

// outgoing is a stored mail.
type outgoing struct {
	Mail
	id                   id.Outgoing
	head                 []byte // sealed
	size                 int64
	createdAt, expiresAt time.Time
}

func insertTx(ctx context.Context, tx *db.Tx, o *outgoing) error {
	_, err := tx.Exec(ctx, insertMail, o.id, o.Account, o.Purpose, o.To, o.Mailbox, o.Message, o.head, o.size, o.createdAt.UnixMicro(), o.expiresAt.UnixMicro())
	if err != nil {
		return fmt.Errorf("store outgoing mail: %w", err)
	}
	return nil
}

// get returns a stored mail, nil if there is none.
func get(ctx context.Context, q db.Queryer, mail id.Outgoing) (*outgoing, error) {
	var o outgoing
	var created, expires int64
	err := q.QueryRow(ctx, selectMail, mail).Scan(&o.id, &o.Account, &o.Purpose, &o.To, &o.Mailbox, &o.Message, &o.head, &o.size, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read outgoing mail %s: %w", mail, err)
	}
	o.createdAt, o.expiresAt = db.Moment(created), db.Moment(expires)
	return &o, nil
}

// deleteTx deletes a mail and its content.
func deleteTx(ctx context.Context, tx *db.Tx, mail id.Outgoing) error {
	for _, statement := range []string{deleteChunks, deleteMail} {
		if _, err := tx.Exec(ctx, statement, mail); err != nil {
			return fmt.Errorf("delete outgoing mail %s: %w", mail, err)
		}
	}
	return nil
}

// waiting returns the number and the octets of an account's mails.
func waiting(ctx context.Context, q db.Queryer, account id.Account) (mails, octets int64, err error) {
	if err := q.QueryRow(ctx, selectWaiting, account).Scan(&mails, &octets); err != nil {
		return 0, 0, fmt.Errorf("count the outgoing mail of %s: %w", account, err)
	}
	return mails, octets, nil
}

// totalWaiting returns the octets of all mails.
func totalWaiting(ctx context.Context, q db.Queryer) (octets int64, err error) {
	if err := q.QueryRow(ctx, selectTotal).Scan(&octets); err != nil {
		return 0, fmt.Errorf("count outgoing mail: %w", err)
	}
	return octets, nil
}

// Waiting returns the number of mails that wait for the relay, and when the oldest of them was stored; the zero Time if there is none.
func Waiting(ctx context.Context, q db.Queryer) (mails int64, oldest time.Time, err error) {
	var created int64
	if err := q.QueryRow(ctx, selectOldest).Scan(&mails, &created); err != nil {
		return 0, time.Time{}, fmt.Errorf("count outgoing mail: %w", err)
	}
	return mails, db.Moment(created), nil
}

func insertChunkTx(ctx context.Context, tx *db.Tx, mail id.Outgoing, number int, data []byte) error {
	if _, err := tx.Exec(ctx, insertChunk, mail, number, data); err != nil {
		return fmt.Errorf("store outgoing mail %s: %w", mail, err)
	}
	return nil
}

// chunk returns the content of a row, nil behind the last one.
func chunk(ctx context.Context, q db.Queryer, mail id.Outgoing, number int) ([]byte, error) {
	var data []byte
	err := q.QueryRow(ctx, selectChunk, mail, number).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		data, err = raw.Decompress(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read outgoing mail %s: %w", mail, err)
	}
	return data, nil
}

// forgetTx deletes the mail of an account. Its jobs end when they find nothing.
func forgetTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	for _, statement := range []string{forgetChunks, forgetMails} {
		if _, err := tx.Exec(ctx, statement, account); err != nil {
			return fmt.Errorf("delete the outgoing mail of %s: %w", account, err)
		}
	}
	return nil
}

// sweepTx deletes a batch of mails that expired before old, in microseconds since 1970, and of content of mails made before stray that
// are not stored. It returns the number of rows of content.
func sweepTx(ctx context.Context, tx *db.Tx, stray id.Outgoing, old int64) (int64, error) {
	if _, err := tx.Exec(ctx, sweepMails, old, sweepBatch); err != nil {
		return 0, err
	}
	return tx.Exec(ctx, sweepChunks, stray, sweepBatch)
}
