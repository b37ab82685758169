package datakey

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	selectKey = "SELECT sealed FROM data_key WHERE id = 1"
	insertKey = "INSERT INTO data_key (id, sealed) VALUES (1, $1) ON CONFLICT (id) DO NOTHING"
	updateKey = "UPDATE data_key SET sealed = $1 WHERE id = 1"

	// selectInUse looks for rows with something that was encrypted or hashed under a key derived from the master secret.
	selectInUse = "SELECT EXISTS (SELECT 1 FROM account) OR EXISTS (SELECT 1 FROM address_hold)"
)

// get reads the sealed data key. If there is none the error is sql.ErrNoRows.
func get(ctx context.Context, tx *db.Tx) (sealed []byte, err error) {
	err = tx.QueryRow(ctx, selectKey).Scan(&sealed)
	return sealed, err
}

// inUse reports whether the database has data from before there were data keys, when the master secret was used itself.
func inUse(ctx context.Context, tx *db.Tx) (used bool, err error) {
	if err := tx.QueryRow(ctx, selectInUse).Scan(&used); err != nil {
		return false, fmt.Errorf("look for encrypted data: %w", err)
	}
	return used, nil
}
