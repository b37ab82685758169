// Package move copies the data of a service from one database to another: every row of every table, and the raw messages that may still
// be read. It uses one transaction of the target and compares everything before it commits, so that the target holds all or nothing.
// It refuses a target that is not empty and a database that a service is running on. It changes nothing in the source.
package move

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
)

// Side is the source or the target of a move: a migrated database, and its raw messages.
type Side struct {
	DB          *db.DB
	RawMessages RawMessages
	Name        string // for messages and the mark; without a password
}

// RawMessages are the raw messages of a side.
type RawMessages interface {
	// Read returns a raw message as q sees it. The error is raw.ErrGone or raw.ErrDamaged where there is none.
	Read(ctx context.Context, q db.Queryer, ref raw.Ref) ([]byte, error)
	// KeepTx stores records that arrive at the time at. They are on stable storage when it returns, or when tx is committed.
	KeepTx(ctx context.Context, tx *db.Tx, at time.Time, records []raw.Record) ([]raw.Ref, error)
}

// Options of Run.
type Options struct {
	Now      time.Time      // raw messages that have expired by then are not moved
	Secret   []byte         // derived from the master secret, stored in the mark
	Progress func(Progress) // is called as tables are copied and verified; may be nil
}

// Step is a phase of a move.
type Step string

// The phases of a move.
const (
	Copy   Step = "copy"
	Verify Step = "verify"
)

// Progress is the progress of a phase with a table.
type Progress struct {
	Step     Step
	Table    string
	Rows, Of int64
}

// Report is the result of a move.
type Report struct {
	From        string    `json:"from"`
	To          string    `json:"to"`
	Tables      []Table   `json:"tables"`
	RawMessages Kept      `json:"rawMessages"`
	Rows        int64     `json:"rows"`
	Replaced    int64     `json:"replaced"` // texts with octets that the target cannot store, which became U+FFFD
	Digest      string    `json:"digest"`   // hexadecimal SHA-256 of the digests of all tables
	Already     bool      `json:"already"`  // an earlier run had moved the same data
	MovedAt     time.Time `json:"movedAt"`
}

// Table is the result for one table.
type Table struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Digest string `json:"digest"` // hexadecimal SHA-256 of its rows
}

// Kept is the result for the raw messages.
type Kept struct {
	Count  int64  `json:"count"`
	Octets int64  `json:"octets"`
	Gone   int64  `json:"gone"`   // messages whose raw message was missing before its time
	Digest string `json:"digest"` // hexadecimal SHA-256 of all of them
}

// Mark is what a move records in its target.
type Mark struct {
	Digest, Source string
	Rows           int64
	Secret         []byte
	FinishedAt     time.Time
}

// Marked returns the mark of a database; ok is false where it was not the target of a move.
func Marked(ctx context.Context, q db.Queryer) (m Mark, ok bool, err error) {
	m, err = scanMark(q.QueryRow(ctx, selectMark))
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	if err != nil {
		return m, false, fmt.Errorf("read the mark of a move: %w", err)
	}
	return m, true, nil
}

// The errors of Run, beside those of the databases.
var (
	ErrServing  = errors.New("a service is running on it; stop it first")
	ErrNotEmpty = errors.New("it is not empty")
	ErrSecret   = errors.New("its data were moved there with another master secret")
	ErrUnlike   = errors.New("what was written is not what was read")
)

// Run copies everything from one side to the other. If it returns an error the target is as empty as before. After db.ErrUnavailable that
// is not certain, and running it again finds out.
func Run(ctx context.Context, from, to Side, o Options) (Report, error) {
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	for _, s := range []Side{from, to} {
		if err := s.unserved(ctx); err != nil {
			return Report{}, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	var done bool
	var r Report
	err := from.DB.Bulk(ctx, func(_ context.Context, source *db.Tx) error {
		if err := prepare(ctx, source, from, shareMode); err != nil {
			return err
		}
		m := mover{from: from, to: to, source: source, o: o, refs: make(map[raw.Ref]raw.Ref)}
		m.report = Report{From: from.Name, To: to.Name, MovedAt: o.Now.UTC()}
		if err := to.DB.Bulk(ctx, func(_ context.Context, target *db.Tx) error { return m.run(ctx, target) }); err != nil {
			return err
		}
		done, r = true, m.report
		return nil
	})
	if done { // the source's transaction only read, so its end does not matter
		return r, nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return Report{}, err
}

// unserved returns ErrServing if a service is connected to the database.
func (s Side) unserved(ctx context.Context) error {
	if s.DB.Engine() == db.SQLite {
		return nil // its raw messages are locked by the process that opens them
	}
	var n int64
	if err := s.DB.QueryRow(ctx, selectServing).Scan(&n); err != nil {
		return fmt.Errorf("list the connections of the database: %w", err)
	}
	if n > 0 {
		return ErrServing
	}
	return nil
}

// prepare locks the tables and checks that this program knows all of them.
func prepare(ctx context.Context, tx *db.Tx, s Side, mode string) error {
	if err := lock(ctx, tx, mode); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	unknown, err := unknownTables(ctx, tx)
	if err == nil && len(unknown) > 0 {
		err = fmt.Errorf("this program does not know how to move table %s", unknown[0])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// unknownTables returns the tables that are neither moved nor left out on purpose.
func unknownTables(ctx context.Context, tx *db.Tx) ([]string, error) {
	names, err := db.Collect(ctx, tx, db.Value[string], selectTables.On(tx.Engine()))
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	known := leftOut()
	for _, t := range tables() {
		known[t.name] = "moved"
	}
	return slices.DeleteFunc(names, func(name string) bool { return known[name] != "" }), nil
}

// mover is the state of one move.
type mover struct {
	from, to       Side
	source, target *db.Tx
	o              Options
	report         Report
	replaced       int64               // texts that were converted, so far
	refs           map[raw.Ref]raw.Ref // of raw messages that were moved: from the source's reference to the target's
}

// run fills the target, verifies it and marks it.
func (m *mover) run(ctx context.Context, target *db.Tx) error {
	m.target = target
	if err := prepare(ctx, target, m.to, exclusiveMode); err != nil {
		return err
	}
	filled, err := m.filled(ctx)
	if err != nil {
		return err
	}
	if filled != "" {
		return m.again(ctx, filled)
	}
	for _, t := range tables() {
		if err := m.copyTable(ctx, t); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	m.report.Replaced = m.replaced
	if err := m.verify(ctx); err != nil {
		return err
	}
	r := m.report
	_, err = target.Exec(ctx, insertMark, r.Digest, r.From, r.Rows, m.o.Secret, m.o.Now.UnixMicro())
	return err
}

// filled returns the name of a table of the target that has rows; "" if all are empty.
func (m *mover) filled(ctx context.Context) (string, error) {
	for _, t := range tables() {
		n, err := count(ctx, m.target, t.name)
		if err != nil || n > 0 {
			return t.name, err
		}
	}
	return "", nil
}

// again handles a target that has rows: if an earlier run moved the same data, there is nothing to do.
func (m *mover) again(ctx context.Context, filled string) error {
	mark, moved, err := Marked(ctx, m.target)
	if err != nil {
		return err
	}
	if !moved {
		return fmt.Errorf("%s: %w: %s has rows; move to a new database", m.to.Name, ErrNotEmpty, filled)
	}
	if !bytes.Equal(mark.Secret, m.o.Secret) {
		return fmt.Errorf("%s: %w", m.to.Name, ErrSecret)
	}
	if err := m.digest(ctx); err != nil {
		return err
	}
	if m.report.Digest != mark.Digest {
		return fmt.Errorf("%s: %w: other data were moved to it on %s", m.to.Name, ErrNotEmpty, mark.FinishedAt.Format(time.RFC3339))
	}
	m.report.Already, m.report.MovedAt = true, mark.FinishedAt
	return nil
}

func count(ctx context.Context, q db.Queryer, name string) (n int64, err error) {
	if err := q.QueryRow(ctx, selectCount(name)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the rows of %s: %w", name, err)
	}
	return n, nil
}
