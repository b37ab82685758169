// Package once remembers for a day which mail was stored for which recipient, so that mail that is sent again is stored once
// (docs/spec/ingress.md#mail-that-is-sent-again), and which notices an account was sent (docs/spec/accounts.md#mails).
//
// A Key identifies a mail, and a Mark a mail for one of its recipients. Marks are inserted in the transaction that stores the mail, so
// that a crash leaves both or neither, and every process and every restart knows them. Keys and marks are hashes, so
// that the table contains nothing of the mail.
package once

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
)

// Kept is how long a mark is remembered.
const Kept = 24 * time.Hour

// ErrRepeated means that a mail was stored before for one of its recipients.
var ErrRepeated = errors.New("the mail was stored before")

const hashSize = 16

// Key identifies a mail, whatever its recipients.
type Key [hashSize]byte

// Mark identifies a mail for one recipient.
type Mark [hashSize]byte

// NewKey returns the key of a mail that parts identify. The kind keeps keys apart that are made of different things.
func NewKey(kind string, parts ...string) Key { return Key(sum(kind, parts...)) }

// Mark returns the mark of the mail for a recipient.
func (k Key) Mark(recipient string) Mark { return Mark(sum("recipient", string(k[:]), recipient)) }

// sum returns a hash of texts, in which each is preceded by its length, so that no two lists of texts are hashed alike.
func sum(kind string, parts ...string) (h [hashSize]byte) {
	hash := sha256.New()
	for _, part := range slices.Concat([]string{kind}, parts) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:]) // never fails
		_, _ = io.WriteString(hash, part)
	}
	copy(h[:], hash.Sum(nil))
	return h
}

// Store remembers marks. It is safe for concurrent use and holds nothing in memory.
type Store struct {
	db    *db.DB
	clock clock.Clock
}

// New returns a Store. Sweep must be called periodically.
func New(d *db.DB, c clock.Clock) *Store { return &Store{db: d, clock: c} }

// Known returns those of marks that are remembered.
func (s *Store) Known(ctx context.Context, marks []Mark) (map[Mark]bool, error) {
	c, err := s.check(ctx, s.db, marks)
	if err != nil {
		return nil, err
	}
	return c.known, nil
}

// Check is what a transaction knows of the marks of the mails that it stores.
type Check struct {
	known map[Mark]bool
	old   []Mark // stored, but no longer remembered
	added []Mark
}

// CheckTx finds out which of marks are remembered, for a transaction that calls Add for each mail and then SaveTx.
func (s *Store) CheckTx(ctx context.Context, tx *db.Tx, marks []Mark) (*Check, error) {
	return s.check(ctx, tx, marks)
}

func (s *Store) check(ctx context.Context, q db.Queryer, marks []Mark) (*Check, error) {
	found, err := find(ctx, q, marks)
	if err != nil {
		return nil, err
	}
	c, oldest := &Check{known: map[Mark]bool{}}, s.oldest()
	for _, f := range found {
		if f.at.After(oldest) {
			c.known[f.mark] = true
		} else {
			c.old = append(c.old, f.mark)
		}
	}
	return c, nil
}

// oldest returns the time of the latest mark that is forgotten.
func (s *Store) oldest() time.Time { return s.clock.Now().Add(-Kept) }

// Has reports whether one of the marks of a mail is remembered or was added.
func (c *Check) Has(marks []Mark) bool {
	return slices.ContainsFunc(marks, func(m Mark) bool { return c.known[m] })
}

// Add adds the marks of a mail that the transaction stores, of which Has reported none.
func (c *Check) Add(marks []Mark) {
	for _, m := range marks {
		if !c.known[m] {
			c.known[m] = true
			c.added = append(c.added, m)
		}
	}
}

// SaveTx remembers the marks that were added. Of two concurrent transactions with the same mark the second fails.
func (s *Store) SaveTx(ctx context.Context, tx *db.Tx, c *Check) error {
	if err := deleteTx(ctx, tx, c.old); err != nil {
		return err
	}
	slices.SortFunc(c.added, compare)
	return insertTx(ctx, tx, c.added, s.clock.Now())
}

// compare orders marks, so that transactions lock them in the same order.
func compare(a, b Mark) int { return strings.Compare(string(a[:]), string(b[:])) }

// Use remembers that a token, which may be used for one thing only, was used for a mail. It returns false if it was used for another one
// before.
func (s *Store) Use(ctx context.Context, token, mail Key) (ok bool, err error) {
	first, this := []Mark{Mark(token)}, []Mark{token.Mark(string(mail[:]))}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		c, err := s.check(ctx, tx, slices.Concat(first, this))
		if err != nil {
			return err
		}
		if ok = c.Has(this) || !c.Has(first); !ok || c.Has(this) {
			return nil
		}
		c.Add(slices.Concat(first, this))
		return s.SaveTx(ctx, tx, c)
	})
	if err != nil {
		return false, fmt.Errorf("use a token once: %w", err)
	}
	return ok, nil
}

// sweepMax is how many marks one transaction deletes, so that it does not block other writers for long.
const sweepMax = 500

// Sweep deletes the marks that are no longer remembered.
func (s *Store) Sweep(ctx context.Context) error {
	for {
		var n int64
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = tx.Exec(ctx, sweepMarks, s.oldest().UnixMicro(), sweepMax)
			return err
		})
		if err != nil || n < sweepMax {
			return err
		}
	}
}
