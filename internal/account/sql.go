package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// columns are the columns that scan reads, in its order.
const columns = `account.id, account.email, account.locale, account.role, account.plan, account.disabled, account.created_at,
	account.password, account.epoch, account.totp_key, coalesce(account.totp_until, 0), account.totp_last, account.totp_spent`

const (
	selectByID    = "SELECT " + columns + " FROM account WHERE id = $1"
	selectByEmail = "SELECT " + columns + " FROM account WHERE email = $1"
	selectByToken = "SELECT " + columns + `, user_token.expires_at FROM user_token JOIN account ON account.id = user_token.account_id
		WHERE user_token.hash = $1`
	// Identifiers sort by time of creation, so they serve as the position in the list.
	selectPage = "SELECT " + columns + ` FROM account WHERE ($1 = '' OR id < $1) AND email LIKE $2 ESCAPE '\' ORDER BY id DESC LIMIT $3`
	selectPlan = "SELECT plan FROM account WHERE id = $1"

	// The epoch of a new account is 1, as Registration.account sets it. A taken address inserts nothing.
	insertAccount = `INSERT INTO account (id, email, locale, role, plan, disabled, created_at, password, epoch, totp_last, totp_spent)
		VALUES ($1, $2, $3, $4, $5, 0, $6, $7, 1, 0, 0) ON CONFLICT (email) DO NOTHING`
	updateLocale   = "UPDATE account SET locale = $2 WHERE id = $1"
	updatePlan     = "UPDATE account SET plan = $2 WHERE id = $1"
	updateRole     = "UPDATE account SET role = $2 WHERE id = $1"
	updateEnded    = "UPDATE account SET ended_at = $2 WHERE id = $1"
	selectEnded    = "SELECT id FROM account WHERE ended_at > $1 ORDER BY ended_at DESC LIMIT $2"
	updateDisabled = "UPDATE account SET disabled = $2 WHERE id = $1"
	// renewPassword stores the same password at a higher cost; updatePassword stores another one, and its epoch ends
	// sign-ins that are under way.
	renewPassword  = "UPDATE account SET password = $2 WHERE id = $1"
	updatePassword = "UPDATE account SET password = $2, epoch = epoch + 1 WHERE id = $1"

	updateEnrolment = "UPDATE account SET totp_key = $2, totp_until = $3, totp_last = 0, totp_spent = 0 WHERE id = $1"
	updateConfirmed = "UPDATE account SET totp_until = NULL WHERE id = $1"
	updateSpent     = "UPDATE account SET totp_last = $2, totp_spent = $3 WHERE id = $1"
	endTwoFactor    = "UPDATE account SET totp_key = NULL, totp_until = NULL, totp_last = 0, totp_spent = 0 WHERE id = $1"
	endEnrolments   = `UPDATE account SET totp_key = NULL, totp_until = NULL
		WHERE id IN (SELECT id FROM account WHERE totp_until IS NOT NULL AND totp_until <= $1 LIMIT $2)`

	insertToken = "INSERT INTO user_token (hash, account_id, created_at, expires_at) VALUES ($1, $2, $3, $4)"
	// $3 is the current time: a token that has expired meanwhile is not revived.
	extendToken   = "UPDATE user_token SET expires_at = $2 WHERE hash = $1 AND expires_at > $3"
	deleteToken   = "DELETE FROM user_token WHERE hash = $1"
	deleteTokens  = "DELETE FROM user_token WHERE account_id = $1"
	deleteExpired = "DELETE FROM user_token WHERE hash IN (SELECT hash FROM user_token WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)"

	insertInvite  = "INSERT INTO invite (id, code_hash, note, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)"
	selectInvites = `SELECT id, note, created_at, coalesce(expires_at, 0), coalesce(used_at, 0), coalesce(account_id, '') FROM invite
		WHERE ($1 = '' OR id < $1) ORDER BY id DESC LIMIT $2`
	selectInviteUsable = `SELECT count(*) > 0 FROM invite WHERE code_hash = $1 AND used_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`
	// The conditions are part of the update, so that an invitation is used once.
	useInvite = `UPDATE invite SET used_at = $2, account_id = $3
		WHERE code_hash = $1 AND used_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`
	deleteInvite = "DELETE FROM invite WHERE id = $1"

	insertRecoveryCode  = "INSERT INTO recovery_code (account_id, code_hash) VALUES ($1, $2)"
	countRecoveryCodes  = "SELECT count(*) FROM recovery_code WHERE account_id = $1"
	deleteRecoveryCode  = "DELETE FROM recovery_code WHERE account_id = $1 AND code_hash = $2"
	deleteRecoveryCodes = "DELETE FROM recovery_code WHERE account_id = $1"
)

// scan reads columns, and then more.
func scan(row db.Row, more ...any) (*Account, error) {
	var a Account
	var created int64
	dest := []any{
		&a.ID, &a.Email, &a.Locale, &a.Role, &a.Plan, &a.Disabled, &created,
		&a.password, &a.epoch, &a.totp.sealed, &a.totp.until, &a.totp.used.last, &a.totp.used.bits,
	}
	if err := row.Scan(append(dest, more...)...); err != nil {
		return nil, err
	}
	a.CreatedAt = time.UnixMicro(created).UTC()
	return &a, nil
}

func scanID(row db.Row) (account id.Account, err error) {
	err = row.Scan(&account)
	return account, err
}

// getAccount reads an account; nil without an error means that there is none.
func getAccount(ctx context.Context, q db.Queryer, query string, arg any) (*Account, error) {
	a, err := scan(q.QueryRow(ctx, query, arg))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read an account: %w", err) // without arg, which may be an e-mail address
	}
	return a, nil
}

// listAccounts reads accounts.
func listAccounts(ctx context.Context, q db.Queryer, query string, args ...any) ([]*Account, error) {
	all, err := db.Collect(ctx, q, func(row db.Row) (*Account, error) { return scan(row) }, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	return all, nil
}

// scanInvite reads the columns of selectInvites.
func scanInvite(row db.Row) (*Invite, error) {
	var i Invite
	var created, expires, used int64
	if err := row.Scan(&i.ID, &i.Note, &created, &expires, &used, &i.Account); err != nil {
		return nil, err
	}
	i.CreatedAt, i.ExpiresAt, i.UsedAt = timeOf(created), timeOf(expires), timeOf(used)
	return &i, nil
}

// timeOf returns a stored time, the zero time for 0.
func timeOf(micro int64) (t time.Time) {
	if micro != 0 {
		t = time.UnixMicro(micro).UTC()
	}
	return t
}
