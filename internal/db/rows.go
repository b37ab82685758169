package db

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Row is a row of a result: the only one, or the current one of several.
type Row interface{ Scan(dest ...any) error }

// Collect runs a query and returns its rows, converted by scan, or nil if there are none.
func Collect[T any](ctx context.Context, q Queryer, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// One runs a query and returns its row, converted by scan, or nil if there is none.
func One[T any](ctx context.Context, q Queryer, scan func(Row) (*T, error), query string, args ...any) (*T, error) {
	v, err := scan(q.QueryRow(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Value scans a row with a single column.
func Value[T any](row Row) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// Moment converts a stored time, in microseconds since 1970. 0 stands for the zero time.
func Moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Micros is the inverse of Moment.
func Micros(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMicro()
}
