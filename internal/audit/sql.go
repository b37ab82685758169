package audit

import "github.com/gonebox/gonebox/internal/db"

const (
	insert        = "INSERT INTO audit_log (id, at, actor, action, target, detail) VALUES ($1, $2, $3, $4, $5, $6)"
	selectDetails = "SELECT detail FROM audit_log WHERE id > $1 AND action = $2 ORDER BY id DESC LIMIT $3"
	selectPage    = "SELECT id, at, actor, action, target, detail FROM audit_log WHERE ($1 = '' OR id < $1) ORDER BY id DESC LIMIT $2"
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
