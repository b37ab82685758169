package ingress

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	// The error is replaced only by a later one.
	upsertState = `INSERT INTO ingress (name, mails, last_mail_at, last_error_at, last_error) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (name) DO UPDATE SET mails = ingress.mails + excluded.mails,
			last_mail_at = CASE WHEN excluded.last_mail_at > ingress.last_mail_at THEN excluded.last_mail_at ELSE ingress.last_mail_at END,
			last_error = CASE WHEN excluded.last_error_at > ingress.last_error_at THEN excluded.last_error ELSE ingress.last_error END,
			last_error_at = CASE WHEN excluded.last_error_at > ingress.last_error_at THEN excluded.last_error_at ELSE ingress.last_error_at END`
	// $4 is the present time.
	takeLease = `INSERT INTO ingress_lease (name, holder, until) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE ingress_lease.holder = excluded.holder OR ingress_lease.until <= $4`
	selectStates = "SELECT name, mails, last_mail_at, last_error_at, last_error FROM ingress"
)

// saveTx adds the changes of a state to what is stored.
func saveTx(ctx context.Context, tx *db.Tx, c State) error {
	if err := tx.Queue(ctx, upsertState, c.Name, c.Mails, db.Micros(c.LastMailAt), db.Micros(c.LastErrorAt), c.LastError); err != nil {
		return fmt.Errorf("save the state of an ingress: %w", err)
	}
	return nil
}

// lease takes or renews a lease, and returns whether the holder has it.
func lease(ctx context.Context, d *db.DB, name, holder string, now time.Time, keep time.Duration) (held bool, err error) {
	err = d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, takeLease, name, holder, now.Add(keep).UnixMicro(), now.UnixMicro())
		held = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take the lease of an ingress: %w", err)
	}
	return held, nil
}

// list returns the stored states by name.
func list(ctx context.Context, q db.Queryer) (map[string]State, error) {
	all, err := db.Collect(ctx, q, scan, selectStates)
	if err != nil {
		return nil, fmt.Errorf("read the states of ingresses: %w", err)
	}
	states := make(map[string]State, len(all))
	for _, s := range all {
		states[s.Name] = s
	}
	return states, nil
}

// scan reads a row of selectStates.
func scan(row db.Row) (s State, err error) {
	var mail, failed int64
	err = row.Scan(&s.Name, &s.Mails, &mail, &failed, &s.LastError)
	s.LastMailAt, s.LastErrorAt = db.Moment(mail), db.Moment(failed)
	return s, err
}
