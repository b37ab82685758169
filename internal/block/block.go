// Package block stores the clients, senders and recipients that the operator has blocked, and reports whether one is
// blocked (docs/spec/staff.md#blocks).
//
// Commands and the staff API add and remove blocks, which are rows of the database. A Service also holds all of them in
// memory, in an index that is replaced as a whole. Client, Sender and Recipient read the index, without a lock and
// without the database, because the SMTP server calls them for every connection and every recipient. Every addition and
// removal raises a version number. Reload, a periodic job, reads the rows again when the version has changed.
//
// A block with an expiry has no effect after that time; Sweep deletes its row later. The number of blocks is bounded,
// and so is the time of a lookup. The callers decide which reply a blocked client receives.
package block

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Kind is what a block applies to. The values are stored and part of the API.
type Kind string

// The kinds of blocks.
const (
	IP        Kind = "ip"        // a client's address or network
	Sender    Kind = "sender"    // the reverse-path: an address, or @ and a domain
	Recipient Kind = "recipient" // a recipient's address, in which * stands for any characters
)

// Block is a stored block. Several blocks may have the same value; the value is blocked until the last of them expires.
type Block struct {
	ID        id.Block
	Kind      Kind
	Value     string // normalized, see normalize and parseNetwork
	Reason    string // a note by the operator; may be empty
	CreatedAt time.Time
	ExpiresAt time.Time // zero if the block does not expire
}

// Params are the parameters of Add, which validates them. Exactly one of IP, Sender and Recipient must be set.
type Params struct {
	IP, Sender, Recipient string
	Reason                string
	For                   time.Duration // how long the block lasts; 0 means until it is removed
}

// Limits of what is stored, which also bound the memory of the index and the time of a lookup.
const (
	blocksMax   = 200_000 // a block takes about 100 octets in the index, so that all take about 20 MB
	patternsMax = 1000    // recipients that contain *; every recipient of a mail is compared with all of them
	reasonMax   = 200     // characters
)

// Service adds, removes and looks up blocks. It is safe for concurrent use.
type Service struct {
	db    *db.DB
	clock clock.Clock
	index atomic.Pointer[index]
}

// New returns a Service that blocks nothing until Reload is called. The caller must call Reload before the process
// accepts mail, and periodically afterwards.
func New(d *db.DB, c clock.Clock) *Service {
	s := &Service{db: d, clock: c}
	s.index.Store(newIndex(0))
	return s
}

// Add stores a block.
//
// When Add returns, the block is in effect in this process; other processes apply it at their next Reload. If the block
// is stored but reloading fails, Add returns both the block and the error. Errors: request.invalid, block.limit_reached.
func (s *Service) Add(ctx context.Context, p Params) (*Block, error) {
	kind, value, err := p.parse()
	if err != nil {
		return nil, err
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	b := &Block{ID: id.New[id.Block](now), Kind: kind, Value: value, Reason: p.Reason, CreatedAt: now}
	if p.For > 0 {
		b.ExpiresAt = now.Add(p.For).Truncate(time.Microsecond)
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := checkLimitsTx(ctx, tx, b); err != nil {
			return err
		}
		if err := insertTx(ctx, tx, b); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, now, "block.add", string(kind)+" "+value, p.Reason)
	})
	if err != nil {
		return nil, fmt.Errorf("add a block: %w", err)
	}
	return b, s.Reload(ctx)
}

// parse returns the kind and the normalized value of the block. The pointer of an error is that of the field in the
// body of an API request. Error: request.invalid.
func (p Params) parse() (kind Kind, value string, err error) {
	set := 0
	for k, v := range map[Kind]string{IP: p.IP, Sender: p.Sender, Recipient: p.Recipient} {
		if v != "" {
			kind, value = k, v
			set++
		}
	}
	switch {
	case set != 1:
		return "", "", problem.Invalid("", "must have exactly one of ip, sender and recipient")
	case p.For < 0:
		return "", "", problem.Invalid("/for", "must not be negative")
	case len([]rune(p.Reason)) > reasonMax || strings.ContainsFunc(p.Reason, unicode.IsControl):
		return "", "", problem.Invalid("/reason", "must be one line of at most %d characters", reasonMax)
	}
	value, err = parse(kind, value)
	return kind, value, err
}

// List returns at most max blocks that have not expired, newest first. If after is not empty, it returns only blocks
// older than that one.
func (s *Service) List(ctx context.Context, after id.Block, max int) ([]*Block, error) {
	return list(ctx, s.db, selectPage, after, s.clock.Now().UnixMicro(), max)
}

// Remove deletes a block. When it returns without an error, this process no longer applies the block. Error:
// block.not_found.
func (s *Service) Remove(ctx context.Context, block string) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		b, err := getTx(ctx, tx, block)
		if err != nil {
			return err
		}
		if err := removeTx(ctx, tx, b.ID); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, s.clock.Now(), "block.remove", string(b.Kind)+" "+b.Value, "")
	})
	if err != nil {
		return err
	}
	return s.Reload(ctx)
}

// Reload reads the blocks if they have changed since the last read. A periodic job calls it, because commands and other
// processes change blocks too. Blocks that have expired are not read.
//
// Calls may be concurrent. One that another has overtaken reads again, so that no older index replaces a newer one.
func (s *Service) Reload(ctx context.Context) error {
	for {
		current := s.index.Load()
		version, err := versionOf(ctx, s.db)
		if err != nil || version == current.version {
			return err
		}
		next := newIndex(version) // the version was read before the blocks, so a change in between causes another read
		if err := each(ctx, s.db, s.clock.Now(), next.add); err != nil {
			return err
		}
		if s.index.CompareAndSwap(current, next) {
			return nil
		}
	}
}

// Sweep deletes blocks that have expired. It does not raise the version, since an expired block has no effect. A
// periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	// The batch is small, so that the transaction does not block other writers for long.
	const batch = 200
	for n := int64(batch); n == batch; {
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = tx.Exec(ctx, deleteExpired, s.clock.Now().UnixMicro(), batch)
			return err
		})
		if err != nil {
			return fmt.Errorf("delete expired blocks: %w", err)
		}
	}
	return nil
}
