package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/backup"
	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/wake"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

// Operator gives commands access to the database of a service, whether the service is running or not. A running
// service sees changes with its next call, and changes of what it keeps in memory within a second (reloadEvery).
// Commands check no rate limits. The fields are the domains' services; the caller must call Close.
type Operator struct {
	Domains  *domain.Service
	Accounts *account.Registry
	Plans    plan.Catalogue
	Wallet   *wallet.Service
	Bank     *bankpay.Service
	Content  *content.Service
	Keys     *apikey.Service
	Audit    *audit.Log
	Blocks   *block.Service
	Backups  *backup.Log
	Clock    clock.Clock

	db       *db.DB
	entitled entitlements
	voided   atomic.Bool // mailbox tokens were voided, see Close
}

// OpenOperator opens the database that cfg names and migrates it to the schema of this program. It is an error if no
// service has ever used that database: the command was probably meant for another one.
func OpenOperator(ctx context.Context, cfg *config.Config) (_ *Operator, err error) {
	catalogue, err := cfg.Catalogue()
	if err != nil {
		return nil, err
	}
	d, err := openUsedDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if _, _, err := d.Migrate(ctx); err != nil {
		return nil, err
	}
	c := clock.System()
	billing := newBilling(d, c, slog.New(slog.DiscardHandler), cfg, func() {})
	entitled := entitlements{catalogue, subscription.New(d, c, catalogue, billing.wallet, billing.responses)}
	o := &Operator{
		Domains: domain.New(d, c, nil, entitled, domain.Policy{Configured: cfg.Domains, Hostname: cfg.SMTP.Hostname}),
		Plans:   catalogue, Wallet: billing.wallet, Bank: billing.bankpay, Content: content.New(d, c),
		Keys: apikey.New(d, c, wake.New(), entitled), Audit: audit.New(d), Blocks: block.New(d, c), Backups: backup.New(d, c), Clock: c, db: d, entitled: entitled,
	}
	o.Accounts = newRegistry(d, c, cfg, catalogue, func() { o.voided.Store(true) })
	return o, o.Domains.Reload(ctx)
}

// RemoveDomain removes a public domain without live mailboxes. Errors: those of domain.Service.Remove.
func (o *Operator) RemoveDomain(ctx context.Context, name string) error {
	return o.Domains.Remove(ctx, name, mailbox.New(mailbox.Parts{DB: o.db, Clock: o.Clock, Wake: wake.New()}))
}

// AddAccount creates an account and returns it with its password, which is generated if p has none. Errors: those of
// account.Registry.Add.
func (o *Operator) AddAccount(ctx context.Context, p account.Provision) (password string, _ *account.Account, err error) {
	return o.Accounts.Add(ctx, p)
}

// AuditEntry is a change in the audit log.
type AuditEntry = audit.Entry

// Record returns a context whose changes are recorded in the audit log as made by a command
// (docs/spec/staff.md#the-audit-log).
func (o *Operator) Record(ctx context.Context) context.Context { return audit.As(ctx, audit.Command) }

// Close closes the database. If mailbox tokens were voided, it returns once a running service refuses them
// (mailbox.OpenedFor), so that this holds when the command has ended.
func (o *Operator) Close() {
	if o.voided.Load() && o.db.Engine() == db.SQLite {
		<-o.Clock.NewTimer(mailbox.OpenedFor).C
	}
	_ = o.db.Close()
}

// Migrate migrates the database to the latest schema and returns the versions before and after. It creates an empty
// database if there is none, unless something of a service is left in data_dir (openServedDatabase). A service may be running: processes take turns at migrating.
func Migrate(ctx context.Context, cfg *config.Config) (from, to int64, err error) {
	if err := makeDataDir(cfg.DataDir); err != nil {
		return 0, 0, fmt.Errorf("data_dir: %w", err)
	}
	d, err := openServedDatabase(ctx, cfg, db.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Migrate(ctx)
}

// openUsedDatabase opens the database that cfg names, and fails without creating anything if no service has used it.
func openUsedDatabase(ctx context.Context, cfg *config.Config) (_ *db.DB, err error) {
	unused := fmt.Errorf("no service has run on %s; name its configuration with --config", cfg.DataDir)
	if cfg.Database.URL != "" {
		unused = errors.New("no service has run on the database of database.url; name its configuration with --config")
	} else if _, err := os.Stat(filepath.Join(cfg.DataDir, databaseFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, unused
	}
	d, err := openDatabase(ctx, cfg, db.Options{})
	if err != nil {
		return nil, err
	}
	used, err := d.Used(ctx)
	if err == nil && !used {
		err = unused
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// newRegistry returns the part of package account that serves commands and the staff API. The last argument of
// NewRegistry ends the credentials of an account that package account does not know about: developer keys and mailbox
// tokens.
func newRegistry(d *db.DB, c clock.Clock, cfg *config.Config, catalogue plan.Catalogue, voided func()) *account.Registry {
	return account.NewRegistry(d, c, hashCost(cfg.Account.Password), func(code string) bool {
		_, ok := catalogue.Plan(code)
		return ok
	}, func(ctx context.Context, tx *db.Tx, owner id.Account) error {
		tx.AfterCommit(voided)
		return errors.Join(apikey.EndTx(ctx, tx, owner), mailbox.EndTokensTx(ctx, tx, owner))
	})
}
