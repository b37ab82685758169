package apikey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const columns = "prefix, account_id, name, hash, scopes, allowed_cidrs, created_at, coalesce(last_used_at, 0), coalesce(expires_at, 0)"

const (
	selectKey  = "SELECT " + columns + " FROM api_key WHERE prefix = $1"
	selectKeys = "SELECT " + columns + ` FROM api_key WHERE account_id = $1 AND (created_at, prefix) < ($2, $3)
		ORDER BY created_at DESC, prefix DESC LIMIT $4`
	countKeys = "SELECT count(*) FROM api_key WHERE account_id = $1"
	insertKey = `INSERT INTO api_key (prefix, account_id, name, hash, scopes, allowed_cidrs, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, nullif(CAST($8 AS BIGINT), 0)) ON CONFLICT (prefix) DO NOTHING`
	// A flush by another process may have written a later use: it stays.
	updateUsed = "UPDATE api_key SET last_used_at = $2 WHERE prefix = $1 AND coalesce(last_used_at, 0) < $2"
	deleteKeys = "DELETE FROM api_key WHERE account_id = $1"
	deleteKey  = "DELETE FROM api_key WHERE account_id = $1 AND prefix = $2"
)

// scan reads columns, in their order. Scopes and networks are JSON arrays of strings.
func scan(row db.Row) (*Key, error) {
	var k Key
	var scopes, networks string
	var created, used, expires int64
	if err := row.Scan(&k.Prefix, &k.Account, &k.Name, &k.hash, &scopes, &networks, &created, &used, &expires); err != nil {
		return nil, err
	}
	err := errors.Join(json.Unmarshal([]byte(scopes), &k.Scopes), json.Unmarshal([]byte(networks), &k.Networks))
	if err != nil {
		return nil, fmt.Errorf("decode key %s: %w", k.Prefix, err)
	}
	k.CreatedAt, k.LastUsedAt, k.ExpiresAt = db.Moment(created), db.Moment(used), db.Moment(expires)
	return &k, nil
}

// byPrefix reads a key; nil without an error means that there is none.
func byPrefix(ctx context.Context, q db.Queryer, prefix string) (*Key, error) {
	k, err := db.One(ctx, q, scan, selectKey, prefix)
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w", prefix, err)
	}
	return k, nil
}

// beyond is later than every creation: the position before the first row of a list.
const beyond int64 = 1 << 62

// list reads at most max keys of an account after a mark, newest first.
func list(ctx context.Context, q db.Queryer, account id.Account, after Mark, max int) ([]*Key, error) {
	created := beyond
	if after.Prefix != "" {
		created = after.CreatedAt.UnixMicro()
	}
	all, err := db.Collect(ctx, q, scan, selectKeys, account, created, after.Prefix, max)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return all, nil
}

// countTx counts an account's keys, expired ones included, since they are stored until they are revoked.
func countTx(ctx context.Context, tx *db.Tx, account id.Account) (n int, err error) {
	if err := tx.QueryRow(ctx, countKeys, account).Scan(&n); err != nil {
		return 0, fmt.Errorf("count keys: %w", err)
	}
	return n, nil
}

// insertTx inserts a key; free is false if its prefix is taken.
func insertTx(ctx context.Context, tx *db.Tx, k *Key) (free bool, err error) {
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return false, err
	}
	networks, err := json.Marshal(k.Networks)
	if err != nil {
		return false, err
	}
	var expires int64
	if !k.ExpiresAt.IsZero() {
		expires = k.ExpiresAt.UnixMicro()
	}
	n, err := tx.Exec(ctx, insertKey, k.Prefix, k.Account, k.Name, k.hash, string(scopes), string(networks), k.CreatedAt.UnixMicro(), expires)
	return n == 1, err
}
