// Package datakey keeps the data key: the secret from which the keys are derived that encrypt and hash what is stored,
// such as two-factor secrets. It is in the database, encrypted under the master secret. When the master secret is
// rotated, only the data key is encrypted again, so that everything stored stays readable after any number of rotations
// (docs/decisions/0049-encrypt-stored-secrets-under-a-data-key.md).
//
// Open is called once at the start of a process; the key stays in its memory. All functions write in a transaction, so
// that several processes that start at the same time agree on one key.
package datakey

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/token"
)

// owner is what the sealed data key is bound to; see token.Sealer.
const owner = "data key"

// ErrSecret means that no master secret decrypts the data key.
var ErrSecret = errors.New("the data was encrypted under another master secret: restore it; if it is lost, gonebox secret rotate --lost starts over")

// Open returns the data key, encrypted under the current master secret from then on. It is created at the first start.
// Error: ErrSecret, if neither the current nor a former master secret decrypts it.
func Open(ctx context.Context, d *db.DB, m token.Masters) (key []byte, err error) {
	err = d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		key, err = OpenTx(ctx, tx, m)
		return err
	})
	return key, err
}

// OpenTx is Open in a transaction. The current master secret is tried first, then the former ones; if a former one
// fits, the key is encrypted under the current one.
func OpenTx(ctx context.Context, tx *db.Tx, m token.Masters) (key []byte, err error) {
	sealed, err := get(ctx, tx)
	if errors.Is(err, sql.ErrNoRows) {
		if sealed, err = create(ctx, tx, m.Current); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, fmt.Errorf("read the data key: %w", err)
	}
	for i, master := range m.All() {
		sealer, err := newSealer(master)
		if err != nil {
			return nil, err
		}
		key, err := sealer.Open(sealed, owner)
		if err != nil {
			continue
		}
		if i > 0 {
			err = reseal(ctx, tx, m.Current, key)
		}
		return key, err
	}
	return nil, ErrSecret
}

// ReplaceTx stores a new data key, for data whose master secret is lost. Everything that was encrypted stays
// unreadable. The caller deletes what depended on the old key.
func ReplaceTx(ctx context.Context, tx *db.Tx, master []byte) error {
	return reseal(ctx, tx, master, token.NewMaster())
}

// create stores a new data key and returns it sealed. If another process was first, it returns that process's key. ON
// CONFLICT makes the insertion do nothing then, so the stored row is read again.
func create(ctx context.Context, tx *db.Tx, master []byte) (sealed []byte, err error) {
	sealer, err := newSealer(master)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, insertKey, sealer.Seal(token.NewMaster(), owner)); err != nil {
		return nil, fmt.Errorf("store the data key: %w", err)
	}
	return get(ctx, tx)
}

// reseal encrypts the data key under another master secret.
func reseal(ctx context.Context, tx *db.Tx, master, key []byte) error {
	sealer, err := newSealer(master)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, updateKey, sealer.Seal(key, owner)); err != nil {
		return fmt.Errorf("store the data key: %w", err)
	}
	return nil
}

// newSealer returns what encrypts the data key under a master secret. Its key is derived for this purpose alone, so
// that the master secret itself encrypts nothing.
func newSealer(master []byte) (token.Sealer, error) {
	key, err := token.Derive(master, owner)
	if err != nil {
		return token.Sealer{}, err
	}
	return token.NewSealer(key)
}
