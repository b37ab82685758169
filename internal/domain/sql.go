package domain

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	selectPublic = "SELECT name, active FROM public_domain ORDER BY created_at, name"
	upsertPublic = `INSERT INTO public_domain (name, active, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET active = excluded.active`
)

func selectAll(ctx context.Context, q db.Queryer) ([]Public, error) {
	rows, err := q.Query(ctx, selectPublic)
	if err != nil {
		return nil, fmt.Errorf("list domains: %w", err)
	}
	defer rows.Close()
	var all []Public
	for rows.Next() {
		var p Public
		if err := rows.Scan(&p.Name, &p.Active); err != nil {
			return nil, fmt.Errorf("list domains: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}
