package domain

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const (
	selectPublic = "SELECT name, active FROM public_domain ORDER BY created_at, name"
	upsertPublic = `INSERT INTO public_domain (name, active, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET active = excluded.active`
	deletePublic = "DELETE FROM public_domain WHERE name = $1"
)

const privateColumns = `id, account_id, name, status, proof, created_at, coalesce(verified_at, 0), coalesce(checked_at, 0), txt_ok, mx_ok,
	misses, coalesce(next_check, 0)`

// The conditions contain literal statuses, as those of the partial indexes in the migration do, so that the indexes are used.
const (
	selectByID   = "SELECT " + privateColumns + " FROM private_domain WHERE id = $1"
	selectByName = "SELECT " + privateColumns + " FROM private_domain WHERE account_id = $1 AND name = $2"
	// A unique index allows only one row of a name that is not pending, which is the one of its holder.
	selectHolder   = "SELECT " + privateColumns + " FROM private_domain WHERE name = $1 AND status <> 'pending'"
	selectNames    = "SELECT " + privateColumns + " FROM private_domain WHERE status <> 'pending' AND name IN "
	selectPage     = "SELECT " + privateColumns + " FROM private_domain WHERE account_id = $1 AND id < $2 AND status <> 'ending' ORDER BY id DESC LIMIT $3"
	selectDue      = "SELECT " + privateColumns + " FROM private_domain WHERE next_check <= $1 ORDER BY next_check LIMIT $2"
	selectOwned    = "SELECT " + privateColumns + " FROM private_domain WHERE account_id = $1 AND status <> 'ending'"
	selectDeleting = "SELECT " + privateColumns + " FROM private_domain WHERE status = 'ending'"
	countPrivate   = "SELECT count(*) FROM private_domain WHERE account_id = $1"

	insertPrivate = `INSERT INTO private_domain (id, account_id, name, status, proof, created_at, txt_ok, mx_ok, misses)
		VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0)`
	updatePrivate = `UPDATE private_domain SET status = $2, verified_at = nullif(CAST($3 AS BIGINT), 0), checked_at = nullif(CAST($4 AS BIGINT), 0), txt_ok = $5, mx_ok = $6,
		misses = $7, next_check = nullif(CAST($8 AS BIGINT), 0) WHERE id = $1`
	updateDeleting = "UPDATE private_domain SET status = 'ending', next_check = NULL WHERE id = $1"
	deletePrivate  = "DELETE FROM private_domain WHERE id = $1"
)

// listPublic lists the stored public domains in the order of adding.
func listPublic(ctx context.Context, q db.Queryer) ([]Public, error) {
	all, err := db.Collect(ctx, q, scanPublic, selectPublic)
	if err != nil {
		return nil, fmt.Errorf("list domains: %w", err)
	}
	return all, nil
}

func scanPublic(row db.Row) (p Public, err error) {
	err = row.Scan(&p.Name, &p.Active)
	return p, err
}

// scan reads privateColumns, in their order.
func scan(row db.Row) (*Private, error) {
	var p Private
	var created, verified, checked, next int64
	err := row.Scan(&p.ID, &p.Account, &p.Name, &p.Status, &p.proof, &created, &verified, &checked, &p.txtOK, &p.mxOK, &p.failedChecks, &next)
	if err != nil {
		return nil, err
	}
	p.CreatedAt, p.VerifiedAt, p.CheckedAt, p.nextCheck = db.Moment(created), db.Moment(verified), db.Moment(checked), db.Moment(next)
	return &p, nil
}

// getPrivate reads a private domain; nil without an error means that there is none.
func getPrivate(ctx context.Context, q db.Queryer, query string, args ...any) (*Private, error) {
	p, err := db.One(ctx, q, scan, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read private domain %v: %w", args, err)
	}
	return p, nil
}

// listPrivate lists the private domains that a query selects.
func listPrivate(ctx context.Context, q db.Queryer, query string, args ...any) ([]*Private, error) {
	all, err := db.Collect(ctx, q, scan, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list private domains: %w", err)
	}
	return all, nil
}

// namesMax bounds how many names one statement looks up.
const namesMax = 512

// holdersTx reads the holders of those names that have one, and locks their rows. FOR SHARE blocks a concurrent change
// until this transaction ends, and the order of the identifiers avoids deadlocks. SQLite has one writer at a time and
// needs no lock.
func holdersTx(ctx context.Context, tx *db.Tx, names []string) (all []*Private, err error) {
	for chunk := range slices.Chunk(names, namesMax) {
		list, args := db.In(1, chunk)
		found, err := listPrivate(ctx, tx, selectNames+list+db.Per{Postgres: " ORDER BY id FOR SHARE"}.On(tx.Engine()), args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// countTx counts the private domains of an account, including those that are being deleted.
func countTx(ctx context.Context, tx *db.Tx, account id.Account) (n int, err error) {
	if err := tx.QueryRow(ctx, countPrivate, account).Scan(&n); err != nil {
		return 0, fmt.Errorf("count private domains of %s: %w", account, err)
	}
	return n, nil
}

// insertTx inserts a pending private domain.
func insertTx(ctx context.Context, tx *db.Tx, p *Private) error {
	_, err := tx.Exec(ctx, insertPrivate, p.ID, p.Account, p.Name, p.Status, p.proof, p.CreatedAt.UnixMicro())
	return err
}

// saveTx stores the fields that lookups change: the status, the times, the results and the count of failed checks.
func saveTx(ctx context.Context, tx *db.Tx, p *Private) error {
	_, err := tx.Exec(ctx, updatePrivate, p.ID, p.Status, db.Micros(p.VerifiedAt), db.Micros(p.CheckedAt), p.txtOK, p.mxOK, p.failedChecks, db.Micros(p.nextCheck))
	return err
}
