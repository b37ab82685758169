package project

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

const columns = "p.id, p.name, p.account_id, p.mailbox_id, p.password, p.retention, p.max_messages, p.created_at"

const (
	selectByName = "SELECT " + columns + " FROM project p WHERE p.name = $1"
	countOwned   = "SELECT count(*) FROM project WHERE account_id = $1"

	// An account has the role owner in its own projects, and otherwise that of its membership.
	selectSeen = "SELECT " + columns + `, coalesce(b.role, '') FROM project p
		LEFT JOIN mailbox_member b ON b.mailbox_id = p.mailbox_id AND b.account_id = $1
		WHERE (p.id = $2 OR p.name = $2) AND (p.account_id = $1 OR b.account_id IS NOT NULL)`
	selectPage = "SELECT " + columns + ` FROM project p WHERE p.account_id = $1 AND p.id < $2
		UNION ALL SELECT ` + columns + ` FROM mailbox_member b JOIN project p ON p.mailbox_id = b.mailbox_id WHERE b.account_id = $1 AND p.id < $2
		ORDER BY id DESC LIMIT $3`
	selectMembers = `SELECT email, role FROM (SELECT email, 'owner' AS role, 0 AS position FROM account WHERE id = $1
		UNION ALL SELECT a.email, b.role, 1 AS position FROM mailbox_member b JOIN account a ON a.id = b.account_id WHERE b.mailbox_id = $2) AS all_members
		ORDER BY position, email`

	insertProject = `INSERT INTO project (id, name, account_id, mailbox_id, password, retention, max_messages, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO NOTHING`
	updateProject = "UPDATE project SET name = $2, password = $3, retention = $4, max_messages = $5 WHERE id = $1"

	selectExcess = `SELECT m.message_count - p.max_messages FROM project p JOIN mailbox m ON m.id = p.mailbox_id WHERE p.mailbox_id = $1`
	selectOldest = `SELECT p.mailbox_id, p.retention, coalesce((SELECT min(id) FROM message WHERE message.mailbox_id = p.mailbox_id), '') FROM project p`
)

// last sorts after every identifier.
const last = "prj_~"

func scan(row db.Row) (*Project, error) { return scanWith(row) }

// scanWith scans columns and what follows them.
func scanWith(row db.Row, more ...any) (*Project, error) {
	var p Project
	var retention, created int64
	err := row.Scan(append([]any{&p.ID, &p.Name, &p.Account, &p.Mailbox, &p.password, &retention, &p.MaxMessages, &created}, more...)...)
	p.Retention, p.CreatedAt = time.Duration(retention)*time.Microsecond, db.Moment(created)
	return &p, err
}

// one reads a project. It returns nil if there is none.
func one(ctx context.Context, q db.Queryer, query string, arg any) (*Project, error) {
	p, err := db.One(ctx, q, scan, query, arg)
	if err != nil {
		return nil, fmt.Errorf("read the project %v: %w", arg, err)
	}
	return p, nil
}

// find reads a project that an account may see, by its identifier or name, with the account's role. Error: project.not_found.
func find(ctx context.Context, q db.Queryer, account id.Account, which string) (*Project, Role, error) {
	var role Role
	p, err := scanWith(q.QueryRow(ctx, selectSeen, account, which), &role)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "", problem.New(problem.ProjectNotFound)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the project %s: %w", which, err)
	}
	if p.Account == account {
		role = Owner
	}
	return p, role, nil
}

func list(ctx context.Context, q db.Queryer, account id.Account, before id.Project, max int) ([]*Project, error) {
	if before == "" {
		before = last
	}
	all, err := db.Collect(ctx, q, scan, selectPage, account, before, max)
	if err != nil {
		return nil, fmt.Errorf("list the projects of %s: %w", account, err)
	}
	return all, nil
}

func members(ctx context.Context, q db.Queryer, p *Project) ([]Member, error) {
	all, err := db.Collect(ctx, q, func(row db.Row) (m Member, err error) {
		err = row.Scan(&m.Email, &m.Role)
		return m, err
	}, selectMembers, p.Account, p.Mailbox)
	if err != nil {
		return nil, fmt.Errorf("list the members of %s: %w", p.ID, err)
	}
	return all, nil
}

// countTx returns how many projects belong to an account.
func countTx(ctx context.Context, tx *db.Tx, account id.Account) (n int, err error) {
	if err := tx.QueryRow(ctx, countOwned, account).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the projects of %s: %w", account, err)
	}
	return n, nil
}

// insertTx stores a project. Error: project.name_taken.
func insertTx(ctx context.Context, tx *db.Tx, p *Project) error {
	n, err := tx.Exec(ctx, insertProject, p.ID, p.Name, p.Account, p.Mailbox, p.password, p.Retention.Microseconds(), p.MaxMessages, p.CreatedAt.UnixMicro())
	if err == nil && n == 0 {
		return problem.New(problem.ProjectNameTaken)
	}
	return err
}

func updateTx(ctx context.Context, tx *db.Tx, p *Project) error {
	if _, err := tx.Exec(ctx, updateProject, p.ID, p.Name, p.password, p.Retention.Microseconds(), p.MaxMessages); err != nil {
		return fmt.Errorf("change the project %s: %w", p.ID, err)
	}
	return nil
}

// excess returns how many messages a mailbox has beyond what its project keeps; 0 for a mailbox that belongs to no project.
func excess(ctx context.Context, q db.Queryer, box id.Mailbox) (n int, err error) {
	err = q.QueryRow(ctx, selectExcess, box).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("count what %s has too much: %w", box, err)
	}
	return n, nil
}

// overdue is a mailbox with messages that are older than its project keeps them.
type overdue struct {
	box       id.Mailbox
	retention time.Duration
}

// expired returns the mailboxes that have messages to erase.
func expired(ctx context.Context, q db.Queryer, now time.Time) (due []overdue, err error) {
	_, err = db.Collect(ctx, q, func(row db.Row) (none struct{}, err error) {
		var o overdue
		var oldest id.Message
		var retention int64
		if err := row.Scan(&o.box, &retention, &oldest); err != nil {
			return none, err
		}
		o.retention = time.Duration(retention) * time.Microsecond
		if oldest != "" && !now.Before(id.Time(oldest).Add(o.retention)) {
			due = append(due, o)
		}
		return none, nil
	}, selectOldest)
	if err != nil {
		return nil, fmt.Errorf("look for old messages of projects: %w", err)
	}
	return due, nil
}
