// Package idempotency makes a call with an Idempotency-Key take effect once: it keeps the first answer in the
// transaction of the effect and gives it again. It refuses to keep answers of calls that failed, since they had no
// effect and may be tried again, and to know what any call does.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Key is what a client sent as its Idempotency-Key; "" where it sent none.
type Key string

// keyMax bounds a key, in octets.
const keyMax = 255

// ParseKey reads the header's values: none, or one of 1 to 255 visible ASCII characters. Error: request.invalid.
func ParseKey(values ...string) (Key, error) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return parse(values[0])
	}
	return "", problem.Detailf(problem.RequestInvalid, "the header Idempotency-Key comes more than once")
}

func parse(text string) (Key, error) {
	good := text != "" && len(text) <= keyMax
	for i := range len(text) {
		good = good && '!' <= text[i] && text[i] <= '~'
	}
	if !good {
		return "", problem.Detailf(problem.RequestInvalid, "the header Idempotency-Key must have 1 to %d visible ASCII characters", keyMax)
	}
	return Key(text), nil
}

// Call is one call that may come again.
type Call struct {
	Account   id.Account
	Operation string // of the interface: the same key may be used for another
	Key       Key    // "": the call is made whenever it comes
	Body      any    // what is asked for, as a value that encodes to JSON; the same key must ask for the same
}

// Answers keeps the first answers.
type Answers struct {
	db    *db.DB
	clock clock.Clock
	keep  time.Duration
}

// New assembles it; keep is how long an answer is kept.
func New(d *db.DB, c clock.Clock, keep time.Duration) *Answers {
	return &Answers{db: d, clock: c, keep: keep}
}

// Once runs do in a transaction and returns its answer, or the answer of the first time where the call's key has been used
// before. Of calls with one key at the same time one has the effect and all have its answer. The answer must be the
// same after encoding/json has written and read it. Errors: those of do, which keep nothing; idempotency.key_reused
// where the key came with another body.
func Once[T any](ctx context.Context, a *Answers, c Call, do func(ctx context.Context, tx *db.Tx) (T, error)) (answer T, err error) {
	hash, err := c.hash()
	if err != nil {
		return answer, err
	}
	err = a.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if c.Key == "" {
			answer, err = do(ctx, tx)
			return err
		}
		answer, err = onceTx(ctx, tx, a, c, hash, do)
		return err
	})
	return answer, err
}

// onceTx claims the key before it does anything, so that of two transactions at the same time the second waits or fails.
func onceTx[T any](ctx context.Context, tx *db.Tx, a *Answers, c Call, hash string, do func(ctx context.Context, tx *db.Tx) (T, error)) (answer T, err error) {
	claimed, err := claimTx(ctx, tx, c, hash, a.clock.Now(), a.keep)
	if err != nil {
		return answer, err
	}
	if !claimed {
		text, err := keptTx(ctx, tx, c, hash)
		if err != nil {
			return answer, err
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			return answer, fmt.Errorf("read the kept answer of %s: %w", c.Operation, err)
		}
		return answer, nil
	}
	if answer, err = do(ctx, tx); err != nil {
		return answer, err
	}
	return answer, keepTx(ctx, tx, c, answer)
}

// hash identifies what is asked for.
func (c Call) hash() (string, error) {
	text, err := json.Marshal(c.Body)
	if err != nil {
		return "", fmt.Errorf("encode the body of %s: %w", c.Operation, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// sweepMax is how many answers are forgotten at a time, so that the writer is not held for long.
const sweepMax = 500

// Sweep forgets the answers whose time is over.
func (a *Answers) Sweep(ctx context.Context) error {
	for {
		var n int64
		err := a.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = tx.Exec(ctx, deleteExpired, a.clock.Now().UnixMicro(), sweepMax)
			return err
		})
		if err != nil || n < sweepMax {
			return err
		}
	}
}
