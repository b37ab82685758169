package audit

import "github.com/gonebox/gonebox/internal/db"

const (
	insert        = "INSERT INTO audit_log (id, at, actor, action, target, detail) VALUES ($1, $2, $3, $4, $5, $6)"
	selectDetails = "SELECT detail FROM audit_log WHERE id > $1 AND action = $2 ORDER BY id DESC LIMIT $3"
	// Accounts are stored by their identifiers and shown by their e-mail addresses, as long as they have one.
	selectPage = `SELECT l.id, l.at, coalesce(actor.email, l.actor), l.action, coalesce(target.email, l.target), l.detail
		FROM audit_log l LEFT JOIN account actor ON actor.id = l.actor LEFT JOIN account target ON target.id = l.target
		WHERE ($1 = '' OR l.id < $1) ORDER BY l.id DESC LIMIT $2`
)

// scan reads the columns of selectPage.
func scan(row db.Row) (*Entry, error) {
	var e Entry
	var at int64
	if err := row.Scan(&e.ID, &at, &e.Actor, &e.Action, &e.Target, &e.Detail); err != nil {
		return nil, err
	}
	e.At = db.Moment(at)
	return &e, nil
}

func scanDetail(row db.Row) (detail string, err error) {
	err = row.Scan(&detail)
	return detail, err
}
