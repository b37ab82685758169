package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/domain"
)

// Migrate brings the database to the newest schema and gives the versions before and after.
func Migrate(ctx context.Context, cfg *Config) (from, to int64, err error) {
	d, err := openAdminDatabase(ctx, cfg)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Migrate(ctx)
}

// Admin is the operator's access to a service's database, while the service runs or not.
type Admin struct {
	db      *db.DB
	domains *domain.Service
}

// DomainRow is a public domain as the operator sees it.
type DomainRow struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

// OpenAdmin opens the database that cfg names and brings it up to date.
func OpenAdmin(ctx context.Context, cfg *Config) (*Admin, error) {
	d, err := openAdminDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	a := &Admin{db: d, domains: domain.New(d, clock.System(), nil, nil, domain.Policy{Configured: cfg.Domains})}
	if _, _, err := d.Migrate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := a.domains.Reload(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return a, nil
}

func openAdminDatabase(ctx context.Context, cfg *Config) (*db.DB, error) {
	if err := makeDataDir(cfg.DataDir); err != nil {
		return nil, fmt.Errorf("data_dir: %w", err)
	}
	return openDatabase(ctx, cfg, db.Options{})
}

// AddDomain makes a public domain active; a running service takes it up within seconds.
func (a *Admin) AddDomain(ctx context.Context, name string) error { return a.domains.Add(ctx, name) }

// ListDomains lists the public domains.
func (a *Admin) ListDomains(context.Context) ([]DomainRow, error) {
	var rows []DomainRow
	for _, d := range a.domains.All() {
		rows = append(rows, DomainRow{Name: d.Name, Active: d.Active})
	}
	return rows, nil
}

// DisableDomain ends the use of a public domain for new mailboxes.
func (a *Admin) DisableDomain(ctx context.Context, name string) error {
	return a.domains.Disable(ctx, name)
}

// Close releases the database.
func (a *Admin) Close() { _ = a.db.Close() }
