package fault

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// columns are the columns that scan reads.
const columns = "id, account_id, settings, matched, hits, minute_at, passed, created_at"

const (
	selectRules = "SELECT " + columns + " FROM fault_rule WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2) ORDER BY created_at, id"
	selectRule  = "SELECT " + columns + " FROM fault_rule WHERE id = $1 AND (ends_at IS NULL OR ends_at > $2)"
	countRules  = "SELECT count(*), coalesce(max(created_at), 0) FROM fault_rule WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2)"
	insertRule  = `INSERT INTO fault_rule (id, account_id, settings, matched, hits, minute_at, passed, created_at, ends_at)
		VALUES ($1, $2, $3, 0, 0, 0, 0, $4, $5)`
	updateCounts = "UPDATE fault_rule SET matched = $2, hits = $3, minute_at = $4, passed = $5 WHERE id = $1"
	deleteRule   = "DELETE FROM fault_rule WHERE account_id = $1 AND id = $2"
	deleteRules  = "DELETE FROM fault_rule WHERE account_id = $1"
	deleteEnded  = "DELETE FROM fault_rule WHERE ends_at <= $1"

	selectPreset = "SELECT value FROM fault_preset WHERE account_id = $1 AND project = $2 AND name = $3"
	upsertPreset = `INSERT INTO fault_preset (account_id, project, name, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, project, name) DO UPDATE SET value = excluded.value`
	countPresets  = "SELECT count(*) FROM fault_preset WHERE account_id = $1"
	deletePreset  = "DELETE FROM fault_preset WHERE account_id = $1 AND project = $2 AND name = $3"
	deletePresets = "DELETE FROM fault_preset WHERE account_id = $1"

	insertTry = `INSERT INTO fault_try (scope, mail, tries, first_at) VALUES ($1, $2, 1, $3)
		ON CONFLICT (scope, mail) DO UPDATE SET tries = fault_try.tries + 1 RETURNING tries, first_at`
	trimTries = `DELETE FROM fault_try WHERE scope = $1 AND first_at < (SELECT first_at FROM fault_try WHERE scope = $1
		ORDER BY first_at DESC LIMIT 1 OFFSET $2)`
	deleteTries    = "DELETE FROM fault_try WHERE scope = $1"
	deleteOldTries = `DELETE FROM fault_try WHERE first_at < $1`
)

// scan reads a row that has columns.
func scan(row db.Row) (*Rule, error) {
	var r Rule
	var settings string
	var minute, created int64
	if err := row.Scan(&r.ID, &r.Account, &settings, &r.matched, &r.hits, &minute, &r.passed, &created); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(settings), &r.Settings); err != nil {
		return nil, fmt.Errorf("decode the settings of fault rule %s: %w", r.ID, err)
	}
	r.minuteAt, r.CreatedAt = time.UnixMicro(minute).UTC(), time.UnixMicro(created).UTC()
	return &r, nil
}

// queryRules reads the rules of an account that have not ended, the oldest first.
func queryRules(ctx context.Context, q db.Queryer, account id.Account, now time.Time) ([]*Rule, error) {
	all, err := db.Collect(ctx, q, scan, selectRules, account, now.UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("list the fault rules of %s: %w", account, err)
	}
	return all, nil
}

// countTx returns how many rules an account has that have not ended, and when the last one was created.
func countTx(ctx context.Context, tx *db.Tx, account id.Account, now time.Time) (n int, last time.Time, err error) {
	var at int64
	if err := tx.QueryRow(ctx, countRules, account, now.UnixMicro()).Scan(&n, &at); err != nil {
		return 0, last, fmt.Errorf("count the fault rules of %s: %w", account, err)
	}
	return n, time.UnixMicro(at).UTC(), nil
}

// insertTx inserts a rule.
func insertTx(ctx context.Context, tx *db.Tx, r *Rule) error {
	settings, err := json.Marshal(r.Settings)
	if err != nil {
		return fmt.Errorf("encode fault rule %s: %w", r.ID, err)
	}
	var ends *int64 // null: it stays
	if at := r.EndsAt(); !at.IsZero() {
		us := at.UnixMicro()
		ends = &us
	}
	_, err = tx.Exec(ctx, insertRule, r.ID, r.Account, string(settings), r.CreatedAt.UnixMicro(), ends)
	return err
}

// lockTx reads a rule that the transaction may update. It returns nil for one that does not exist or has ended.
func lockTx(ctx context.Context, tx *db.Tx, rule id.Fault, now time.Time) (*Rule, error) {
	r, err := db.One(ctx, tx, scan, selectRule, rule, now.UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("read fault rule %s: %w", rule, err)
	}
	return r, nil
}

// saveTx stores the counts of a rule.
func saveTx(ctx context.Context, tx *db.Tx, rule id.Fault, c counts) error {
	_, err := tx.Exec(ctx, updateCounts, rule, c.matched, c.hits, c.minuteAt.UnixMicro(), c.passed)
	return err
}

// tryTx records a try of a mail, and returns how many there were before, and when the first one was.
func tryTx(ctx context.Context, tx *db.Tx, scope string, key mailKey, now time.Time) (before int64, first time.Time, err error) {
	var tries, at int64
	if err := tx.QueryRow(ctx, insertTry, scope, key[:], now.UnixMicro()).Scan(&tries, &at); err != nil {
		return 0, first, fmt.Errorf("record a try of a mail: %w", err)
	}
	if tries == 1 {
		if _, err := tx.Exec(ctx, trimTries, scope, triesMax-1); err != nil {
			return 0, first, err
		}
	}
	return tries - 1, time.UnixMicro(at).UTC(), nil
}

// deleteTriesTx deletes the tries of scopes.
func deleteTriesTx(ctx context.Context, tx *db.Tx, scopes ...string) error {
	for _, scope := range scopes {
		if _, err := tx.Exec(ctx, deleteTries, scope); err != nil {
			return err
		}
	}
	return nil
}

// queryPreset reads the value of a preset, nil if it is not set.
func queryPreset(ctx context.Context, q db.Queryer, p Preset) ([]byte, error) {
	var value string
	err := q.QueryRow(ctx, selectPreset, p.Account, p.Project, p.Name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, fmt.Errorf("read the preset %s of %s: %w", p.Name, p.Account, err)
	}
	return []byte(value), nil
}
