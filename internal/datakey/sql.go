package datakey

import (
	"context"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	selectKey = "SELECT sealed FROM data_key WHERE id = 1"
	insertKey = "INSERT INTO data_key (id, sealed) VALUES (1, $1) ON CONFLICT (id) DO NOTHING"
	updateKey = "UPDATE data_key SET sealed = $1 WHERE id = 1"
)

// get reads the sealed data key. If there is none the error is sql.ErrNoRows.
func get(ctx context.Context, tx *db.Tx) (sealed []byte, err error) {
	err = tx.QueryRow(ctx, selectKey).Scan(&sealed)
	return sealed, err
}
