// Package block refuses mail from clients and senders, and to recipients, that the operator has blocked
// (docs/spec/staff.md#blocks).
//
// Blocks are rows that commands and the staff API add and remove. A Service holds all of them in memory, in an index
// that is replaced as a whole: Client, Sender and Recipient look up there, without a lock and without the database,
// since they are called for every connection and every recipient. Reload, a periodic job, reads the rows again if their
// version has changed, which every addition and removal raises.
//
// A block with an expiry ends by the clock; Sweep deletes its row later. The number of blocks is bounded, and so is the
// time of a look-up. What a blocked client is answered is decided by the callers.
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

// Kind says what a block is compared with. The values are stored and part of the API.
type Kind string

// The kinds of blocks.
const (
	IP        Kind = "ip"        // a client's address or network
	Sender    Kind = "sender"    // the reverse-path: an address, or @ and a domain
	Recipient Kind = "recipient" // a recipient's address, in which * stands for any characters
)

// Block is a stored block. Several blocks may have the same value; the last that expires decides.
type Block struct {
	ID        id.Block
	Kind      Kind
	Value     string // in normal form
	Reason    string // the operator's; may be empty
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// Params are the input of Add, which checks them. Exactly one of IP, Sender and Recipient is set.
type Params struct {
	IP, Sender, Recipient string
	Reason                string
	For                   time.Duration // 0: until it is removed
}

// The bounds of what is stored, and of what one look-up can cost.
const (
	// At some 100 octets each in the index, the most take some 20 MB.
	blocksMax   = 200_000
	patternsMax = 1000 // recipients with *, each of which is compared with every recipient
	reasonMax   = 200  // characters
)

// Service implements blocks. It is safe for concurrent use.
type Service struct {
	db    *db.DB
	clock clock.Clock
	index atomic.Pointer[index]
}

// New returns a Service that blocks nothing until Reload. Reload must be called before mail is accepted, and
// periodically.
func New(d *db.DB, c clock.Clock) *Service {
	s := &Service{db: d, clock: c}
	s.index.Store(newIndex(0))
	return s
}

// Add stores a block.
//
// It returns after this process applies the block; others apply it with their next Reload. If only the Reload fails,
// the block is stored and returned together with the error. Errors: request.invalid, block.limit_reached.
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
		if err := checkRoomTx(ctx, tx, b); err != nil {
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

// parse returns the kind and the normal form of what is blocked. The pointer of the error names the field of the API's
// body. Error: request.invalid.
func (p Params) parse() (kind Kind, value string, err error) {
	given := 0
	for k, v := range map[Kind]string{IP: p.IP, Sender: p.Sender, Recipient: p.Recipient} {
		if v != "" {
			kind, value = k, v
			given++
		}
	}
	switch {
	case given != 1:
		return "", "", problem.Invalid("", "must have exactly one of ip, sender and recipient")
	case p.For < 0:
		return "", "", problem.Invalid("/for", "must not be negative")
	case len([]rune(p.Reason)) > reasonMax || strings.ContainsFunc(p.Reason, unicode.IsControl):
		return "", "", problem.Invalid("/reason", "must be one line of at most %d characters", reasonMax)
	}
	value, err = parse(kind, value)
	return kind, value, err
}

// List returns at most max blocks, newest first, without those that have expired. If after is not empty they are older than that
// one.
func (s *Service) List(ctx context.Context, after id.Block, max int) ([]*Block, error) {
	return list(ctx, s.db, selectPage, after, s.clock.Now().UnixMicro(), max)
}

// Remove deletes a block. It returns after this process no longer applies it. Error: block.not_found.
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

// Reload reads the blocks if they have changed since they were read. It is called periodically, since commands and
// other processes change them.
//
// Calls may be concurrent: if an older index replaces a newer one, its version differs from the stored one, and the
// next call reads again. Blocks that have expired are not read.
func (s *Service) Reload(ctx context.Context) error {
	version, err := versionOf(ctx, s.db)
	if err != nil || version == s.index.Load().version {
		return err
	}
	next := newIndex(version) // read before the blocks: a change in between is read again
	if err := each(ctx, s.db, s.clock.Now(), next.add); err != nil {
		return err
	}
	s.index.Store(next)
	return nil
}

// Sweep deletes blocks that have expired. It does not raise the version, since an expired block has no effect. A
// periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	// Few rows at once, so that the transaction does not block other writers for long.
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
