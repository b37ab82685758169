package db

import (
	"context"
	"fmt"
)

// Size returns how many octets the database occupies on disk, on SQLite without its log.
func (d *DB) Size(ctx context.Context) (n int64, err error) {
	size := Per{
		SQLite:   "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
		Postgres: "SELECT pg_database_size(current_database())",
	}
	if err := d.QueryRow(ctx, size.On(d.engine)).Scan(&n); err != nil {
		return 0, fmt.Errorf("measure the database: %w", err)
	}
	return n, nil
}
