// Package idempotency makes a call with an Idempotency-Key take effect once (docs/spec/conventions.md#idempotency): it
// stores the first response in the transaction of the effect and returns it to repeated calls. Responses of failed calls
// are not stored, since those had no effect and may be retried.
//
// ParseKey parses the header; Once runs the function of a call or returns its stored response. A key belongs to an
// account and an operation. Because the key, the effect and the response are one transaction, a crash leaves all of them
// or none, and it works across processes without any other lock. Responses are kept for the configured time and then
// deleted by Sweep.
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

// Key is the Idempotency-Key of a request; "" if there is none. It is opaque; clients mostly send UUIDs.
type Key string

// keyMax is the maximum length of a key in octets.
const keyMax = 255

// ParseKey parses the values of the header: none, or one of 1 to 255 visible ASCII characters. Error: request.invalid.
func ParseKey(values ...string) (Key, error) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return parse(values[0])
	}
	return "", problem.Detailf(problem.RequestInvalid, "the header Idempotency-Key occurs more than once")
}

// parse parses one value of the header. White space and control characters are refused, so that a key can be logged.
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

// Call is a call that a client may repeat. The order of Body's JSON must be the same each time, which holds for
// structs.
type Call struct {
	Account   id.Account
	Operation string // of the API; keys of different operations are independent
	Key       Key    // "": the call takes effect every time
	Body      any    // the input, which encodes to JSON; it must be the same for the same key
}

// Responses stores the first responses. It is safe for concurrent use. Nothing is held in memory.
type Responses struct {
	db    *db.DB
	clock clock.Clock
	keep  time.Duration
}

// New returns Responses; keep is how long a response is stored. keep must be longer than clients retry. Sweep must be
// called periodically.
func New(d *db.DB, c clock.Clock, keep time.Duration) *Responses {
	return &Responses{db: d, clock: c, keep: keep}
}

// Once runs do in a transaction and returns its response, or the stored response if the call's key was used before. Of
// concurrent calls with one key one takes effect and all return its response. The response must survive a round trip
// through encoding/json.
//
// do may run several times before it takes effect (db.DB.Update), so it must do nothing outside of its transaction.
// What encoding/json leaves out, such as unexported fields, is missing in the response of a repeated call. Errors: those
// of do, which store nothing; idempotency.key_reused, if the key was used with another body.
func Once[T any](ctx context.Context, a *Responses, c Call, do func(ctx context.Context, tx *db.Tx) (T, error)) (response T, err error) {
	hash, err := c.hash()
	if err != nil {
		return response, err
	}
	err = a.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if c.Key == "" {
			response, err = do(ctx, tx)
			return err
		}
		response, err = onceTx(ctx, tx, a, c, hash, do)
		return err
	})
	return response, err
}

// onceTx claims the key before it does anything else, so that of two concurrent transactions the second waits or fails.
// On SQLite transactions run one after the other; on PostgreSQL the second waits for the row, or is rolled back and run
// again.
func onceTx[T any](ctx context.Context, tx *db.Tx, a *Responses, c Call, hash string, do func(ctx context.Context, tx *db.Tx) (T, error)) (response T, err error) {
	claimed, err := claimTx(ctx, tx, c, hash, a.clock.Now(), a.keep)
	if err != nil {
		return response, err
	}
	if !claimed {
		text, err := storedTx(ctx, tx, c, hash)
		if err != nil {
			return response, err
		}
		if err := json.Unmarshal([]byte(text), &response); err != nil {
			return response, fmt.Errorf("read the stored response of %s: %w", c.Operation, err)
		}
		return response, nil
	}
	if response, err = do(ctx, tx); err != nil {
		return response, err
	}
	return response, storeTx(ctx, tx, c, response)
}

// hash returns the hexadecimal SHA-256 of the body's JSON, by which the same key with another body is recognized.
func (c Call) hash() (string, error) {
	text, err := json.Marshal(c.Body)
	if err != nil {
		return "", fmt.Errorf("encode the body of %s: %w", c.Operation, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// sweepMax is how many responses one transaction deletes, so that it does not block other writers for long.
const sweepMax = 500

// Sweep deletes the expired responses. A key that has expired but is not deleted yet can be claimed again, so the result
// does not depend on Sweep.
func (a *Responses) Sweep(ctx context.Context) error {
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

// EraseTx deletes the calls of an account, with their responses.
func EraseTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	if _, err := tx.Exec(ctx, deleteAccount, account); err != nil {
		return fmt.Errorf("delete the idempotency keys of %s: %w", account, err)
	}
	return nil
}
