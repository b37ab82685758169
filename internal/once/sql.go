package once

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	insertMarks = "INSERT INTO once (mark, at) VALUES ($1, $2)"
	selectMarks = "SELECT mark, at FROM once WHERE mark IN "
	deleteMarks = "DELETE FROM once WHERE mark IN "
	sweepMarks  = "DELETE FROM once WHERE mark IN (SELECT mark FROM once WHERE at <= $1 LIMIT $2)"
)

// findMax is how many marks one statement looks for.
const findMax = 512

// row is a stored mark.
type row struct {
	mark Mark
	at   time.Time
}

// find returns the stored marks among marks, also those that are no longer remembered.
func find(ctx context.Context, q db.Queryer, marks []Mark) (found []row, err error) {
	for len(marks) > 0 {
		n := min(len(marks), findMax)
		in, args := db.In(1, octets(marks[:n]))
		some, err := db.Collect(ctx, q, scan, selectMarks+in, args...)
		if err != nil {
			return nil, fmt.Errorf("look for stored mails: %w", err)
		}
		found, marks = append(found, some...), marks[n:]
	}
	return found, nil
}

// scan reads a row of selectMarks.
func scan(from db.Row) (r row, err error) {
	var mark []byte
	var at int64
	err = from.Scan(&mark, &at)
	copy(r.mark[:], mark)
	r.at = time.UnixMicro(at)
	return r, err
}

// insertTx inserts marks.
func insertTx(ctx context.Context, tx *db.Tx, marks []Mark, at time.Time) error {
	ats := make(db.Numbers, len(marks))
	for i := range ats {
		ats[i] = at.UnixMicro()
	}
	if err := tx.QueueEach(ctx, insertMarks, db.Octets(octets(marks)), ats); err != nil {
		return fmt.Errorf("remember stored mails: %w", err)
	}
	return nil
}

// deleteTx deletes marks.
func deleteTx(ctx context.Context, tx *db.Tx, marks []Mark) error {
	if len(marks) == 0 {
		return nil
	}
	in, args := db.In(1, octets(marks))
	if _, err := tx.Exec(ctx, deleteMarks+in, args...); err != nil {
		return fmt.Errorf("forget stored mails: %w", err)
	}
	return nil
}

// octets returns marks as values of a column.
func octets(marks []Mark) [][]byte {
	all := make([][]byte, len(marks))
	for i := range marks {
		all[i] = marks[i][:]
	}
	return all
}
