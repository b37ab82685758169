package subscription

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const columns = "id, account_id, plan, term, status, auto_renew, price, started_at, anchor_at, period, period_end"

const (
	// One statement reads what the plan in effect depends on, since it is read for every mail to an account. Expired
	// rows are still 'active' until Renew has settled them; planOf compares the end.
	selectStanding = `SELECT account.id, account.plan, account.disabled, coalesce(subscription.plan, ''), coalesce(subscription.period_end, 0)
		FROM account LEFT JOIN subscription ON subscription.account_id = account.id AND subscription.status = 'active'
		WHERE account.id `
	selectOneStanding = selectStanding + "= $1"
	// A replaced subscription is not shown, since the one that replaced it is newer or has expired too.
	selectNewest = "SELECT " + columns + " FROM subscription WHERE account_id = $1 AND status <> 'cancelled' ORDER BY id DESC LIMIT 1"
	selectActive = "SELECT " + columns + " FROM subscription WHERE id = $1 AND status = 'active'"
	selectDue    = `SELECT period_end, id FROM subscription WHERE status = 'active' AND period_end <= $1 AND (period_end, id) > ($2, $3)
		ORDER BY period_end, id LIMIT $4`
	selectNextEnd = "SELECT coalesce(min(period_end), 0) FROM subscription WHERE status = 'active'"

	insertSubscription = `INSERT INTO subscription (id, account_id, plan, term, status, auto_renew, price, started_at, anchor_at, period, period_end)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	// The statements below do not check the status: their callers have read the row in the same transaction.
	nextPeriod    = "UPDATE subscription SET anchor_at = $2, period = $3, period_end = $4, price = $5 WHERE id = $1"
	endRenewal    = "UPDATE subscription SET auto_renew = 0 WHERE account_id = $1 AND status = 'active'"
	endOne        = "UPDATE subscription SET status = $2, ended_at = $3 WHERE id = $1"
	expireEnded   = "UPDATE subscription SET status = 'expired', ended_at = $2 WHERE account_id = $1 AND status = 'active' AND period_end <= $2"
	endAll        = "UPDATE subscription SET status = 'expired', auto_renew = 0, ended_at = $2 WHERE account_id = $1 AND status = 'active'"
	cancelRunning = "UPDATE subscription SET status = 'cancelled', ended_at = $2 WHERE account_id = $1 AND status = 'active'"
)

// scan reads columns, in their order.
func scan(row db.Row) (*Subscription, error) {
	var s Subscription
	var started, anchor, end int64
	err := row.Scan(&s.ID, &s.Account, &s.Plan, &s.Interval, &s.Status, &s.AutoRenew, &s.Price, &started, &anchor, &s.period, &end)
	if err != nil {
		return nil, err
	}
	s.StartedAt, s.anchor, s.PeriodEnd = db.Moment(started), db.Moment(anchor), db.Moment(end)
	return &s, nil
}

// one reads a subscription; nil without an error means that there is none.
func one(ctx context.Context, q db.Queryer, query string, arg any) (*Subscription, error) {
	s, err := db.One(ctx, q, scan, query, arg)
	if err != nil {
		return nil, fmt.Errorf("read the subscription of %s: %w", arg, err)
	}
	return s, nil
}

// newest reads the latest subscription of an account that was not replaced, or nil.
func newest(ctx context.Context, q db.Queryer, account id.Account) (*Subscription, error) {
	return one(ctx, q, selectNewest, account)
}

// activeTx reads a subscription if it is still active, or returns nil.
func activeTx(ctx context.Context, tx *db.Tx, sub id.Subscription) (*Subscription, error) {
	return one(ctx, tx, selectActive, sub)
}

// standing has what an account's plan in effect depends on. It is one row of selectStanding.
type standing struct {
	account  id.Account
	assigned string // by staff
	disabled bool
	bought   string // the plan of the subscription; "": none
	until    int64  // when its period ends, in microseconds; 0: no subscription
}

func scanStanding(row db.Row) (st standing, err error) {
	err = row.Scan(&st.account, &st.assigned, &st.disabled, &st.bought, &st.until)
	return st, err
}

// standingOf reads the standing of an account. For an unknown one the error wraps sql.ErrNoRows.
func standingOf(ctx context.Context, q db.Queryer, account id.Account) (standing, error) {
	st, err := scanStanding(q.QueryRow(ctx, selectOneStanding, account))
	if err != nil {
		return st, fmt.Errorf("read the plan of %s: %w", account, err)
	}
	return st, nil
}

// standingsMax bounds how many accounts one statement looks up. A batch has at most 512 mails; more accounts than that
// take several statements.
const standingsMax = 512

// standingsOf returns the standings of those accounts that exist.
func standingsOf(ctx context.Context, q db.Queryer, accounts []id.Account) (all []standing, err error) {
	for some := range slices.Chunk(accounts, standingsMax) {
		list, args := db.In(1, some)
		found, err := db.Collect(ctx, q, scanStanding, selectStanding+"IN "+list, args...)
		if err != nil {
			return nil, fmt.Errorf("read the plans of %d accounts: %w", len(accounts), err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// replaceTx ends an account's active subscription, if any. One whose period is over but that Renew has not settled yet is
// stored as expired and not as cancelled: nothing that was paid is cut short.
func replaceTx(ctx context.Context, tx *db.Tx, account id.Account, now time.Time) error {
	if _, err := tx.Exec(ctx, expireEnded, account, now.UnixMicro()); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, cancelRunning, account, now.UnixMicro())
	return err
}

// insertTx inserts a subscription. A boolean is stored as 0 or 1, since SQLite has no other.
func insertTx(ctx context.Context, tx *db.Tx, s Subscription) error {
	renew := 0
	if s.AutoRenew {
		renew = 1
	}
	_, err := tx.Exec(ctx, insertSubscription, s.ID, s.Account, s.Plan, s.Interval, s.Status, renew, s.Price,
		s.StartedAt.UnixMicro(), s.anchor.UnixMicro(), s.period, s.PeriodEnd.UnixMicro())
	return err
}

// mark is a position in the list of due subscriptions. Ends need not be unique, so the identifier is part of it. end is
// in microseconds.
type mark struct {
	end int64
	id  id.Subscription
}

// dueAfter lists subscriptions whose period has ended at now, after a position, the earliest end first.
func dueAfter(ctx context.Context, q db.Queryer, now time.Time, last mark, max int) ([]mark, error) {
	due, err := db.Collect(ctx, q, func(row db.Row) (m mark, err error) {
		err = row.Scan(&m.end, &m.id)
		return m, err
	}, selectDue, now.UnixMicro(), last.end, last.id, max)
	if err != nil {
		return nil, fmt.Errorf("list due subscriptions: %w", err)
	}
	return due, nil
}

// nextEnd returns the earliest end of all active subscriptions, or zero. An index makes it cheap.
func nextEnd(ctx context.Context, q db.Queryer) (time.Time, error) {
	var at int64
	if err := q.QueryRow(ctx, selectNextEnd).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("read when the next period ends: %w", err)
	}
	if at == 0 {
		return time.Time{}, nil
	}
	return db.Moment(at), nil
}
