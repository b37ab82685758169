package filter

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// columns are the columns that scan reads.
const columns = "id, account_id, name, coalesce(domain_id, ''), from_pattern, subject_pattern, extract_regex, priority, active, size, created_at, updated_at"

const (
	selectFilter = "SELECT " + columns + " FROM filter WHERE account_id = $1 AND id = $2"
	selectPage   = "SELECT " + columns + ` FROM filter WHERE account_id = $1 AND (created_at, id) < ($2, $3)
		ORDER BY created_at DESC, id DESC LIMIT $4`
	// This is the order in which filters are tried: by priority and, if that is equal, the older one first.
	selectActive = "SELECT " + columns + " FROM filter WHERE account_id = $1 AND active = 1 ORDER BY priority, created_at, id"
	selectSum    = "SELECT count(*), coalesce(sum(size), 0) FROM filter WHERE account_id = $1"

	insertFilter = `INSERT INTO filter (id, account_id, name, domain_id, from_pattern, subject_pattern, extract_regex, priority, active,
		size, created_at, updated_at) VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12)`
	// $3 is the version that the caller has read. If another call has changed the filter since, no row is updated.
	updateFilter = `UPDATE filter SET name = $4, from_pattern = $5, subject_pattern = $6, extract_regex = $7, priority = $8, active = $9,
		size = $10, updated_at = $11 WHERE account_id = $1 AND id = $2 AND updated_at = $3`
	deleteFilters = "DELETE FROM filter WHERE account_id = $1"
	deleteFilter  = "DELETE FROM filter WHERE account_id = $1 AND id = $2"
)

// scan reads a row that has columns.
func scan(row db.Row) (*Filter, error) {
	var f Filter
	var created, updated int64
	err := row.Scan(&f.ID, &f.Account, &f.Name, &f.Domain, &f.Patterns.From, &f.Patterns.Subject, &f.Patterns.Extract,
		&f.Priority, &f.Active, &f.size, &created, &updated)
	if err != nil {
		return nil, err
	}
	f.CreatedAt, f.UpdatedAt = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	return &f, nil
}

// getFilter reads a filter of an account. Error: filter.not_found, also for a filter of another account.
func getFilter(ctx context.Context, q db.Queryer, account id.Account, filter id.Filter) (*Filter, error) {
	f, err := scan(q.QueryRow(ctx, selectFilter, account, filter))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.New(problem.FilterNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read filter %s: %w", filter, err)
	}
	return f, nil
}

// queryFilters reads the filters that a query selects.
func queryFilters(ctx context.Context, q db.Queryer, query string, args ...any) ([]*Filter, error) {
	all, err := db.Collect(ctx, q, scan, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list filters: %w", err)
	}
	return all, nil
}

// maxCreatedAt is later than the creation of every filter, in microseconds since 1970. A list from this position begins
// with the newest filter.
const maxCreatedAt int64 = 1 << 62

// queryPage reads at most max filters of an account that are older than the filter before, newest first. If before is "",
// it begins with the newest filter.
func queryPage(ctx context.Context, q db.Queryer, account id.Account, before id.Filter, max int) ([]*Filter, error) {
	created := maxCreatedAt
	if before != "" {
		created = id.Time(before).UnixMicro() // an identifier contains its time of creation
	}
	return queryFilters(ctx, q, selectPage, account, created, before, max)
}

// sumTx returns the number of filters of an account and the total size of their patterns.
func sumTx(ctx context.Context, tx *db.Tx, account id.Account) (n, size int, err error) {
	if err := tx.QueryRow(ctx, selectSum, account).Scan(&n, &size); err != nil {
		return 0, 0, fmt.Errorf("count filters: %w", err)
	}
	return n, size, nil
}

// insertTx inserts a filter. An empty domain is stored as null.
func insertTx(ctx context.Context, tx *db.Tx, f *Filter) error {
	_, err := tx.Exec(ctx, insertFilter, f.ID, f.Account, f.Name, f.Domain, f.Patterns.From, f.Patterns.Subject, f.Patterns.Extract,
		f.Priority, f.Active, f.size, f.CreatedAt.UnixMicro(), f.UpdatedAt.UnixMicro())
	return err
}

// updateTx stores a changed filter. updated is false if the filter was changed or deleted since old was read.
func updateTx(ctx context.Context, tx *db.Tx, old, f *Filter) (updated bool, err error) {
	n, err := tx.Exec(ctx, updateFilter, f.Account, f.ID, old.UpdatedAt.UnixMicro(), f.Name, f.Patterns.From, f.Patterns.Subject,
		f.Patterns.Extract, f.Priority, f.Active, f.size, f.UpdatedAt.UnixMicro())
	return n == 1, err
}
