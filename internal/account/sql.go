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
	account.password, account.epoch, account.totp_key, coalesce(account.totp_until, 0), account.totp_last, account.totp_spent, coalesce(account.confirmed_at, 0), account.provisioned`

const (
	selectByID    = "SELECT " + columns + " FROM account WHERE id = $1 AND deleted_at IS NULL"
	selectByEmail = "SELECT " + columns + " FROM account WHERE email = $1 AND deleted_at IS NULL"
	selectByToken = "SELECT " + columns + `, user_token.created_at, user_token.expires_at FROM user_token JOIN account ON account.id = user_token.account_id
		WHERE user_token.hash = $1 AND account.deleted_at IS NULL`
	// Identifiers sort by time of creation, so they serve as the position in the list.
	selectPage = "SELECT " + columns + ` FROM account WHERE ($1 = '' OR id < $1) AND email LIKE $2 ESCAPE '\' AND deleted_at IS NULL ORDER BY id DESC LIMIT $3`
	selectPlan = "SELECT plan FROM account WHERE id = $1"
	// An address that is not confirmed counts as none.
	selectConfirmed = "SELECT CASE WHEN confirmed_at IS NULL OR disabled <> 0 THEN '' ELSE email END FROM account WHERE id = $1"

	// The epoch of a new account is 1, as Registration.account sets it. A taken address inserts nothing.
	insertAccount = `INSERT INTO account (id, email, locale, role, plan, disabled, created_at, password, epoch, totp_last, totp_spent, provisioned)
		VALUES ($1, $2, $3, $4, $5, 0, $6, $7, 1, 0, 0, $8) ON CONFLICT (email) DO NOTHING`
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

	insertToken  = "INSERT INTO user_token (hash, id, account_id, created_at, expires_at, address, user_agent) VALUES ($1, $2, $3, $4, $5, $6, $7)"
	selectTokens = `SELECT id, hash, created_at, expires_at, address, user_agent FROM user_token
		WHERE account_id = $1 AND expires_at > $2 AND ($3 = '' OR id < $3) ORDER BY id DESC LIMIT $4`
	deleteTokenByID = "DELETE FROM user_token WHERE account_id = $1 AND id = $2"
	// $3 is the current time: a token that has expired meanwhile is not revived.
	extendToken       = "UPDATE user_token SET expires_at = $2 WHERE hash = $1 AND expires_at > $3"
	deleteToken       = "DELETE FROM user_token WHERE hash = $1"
	deleteOtherTokens = "DELETE FROM user_token WHERE account_id = $1 AND hash <> $2"
	deleteStartToken  = "DELETE FROM user_token WHERE account_id = $1 AND user_agent = $2 AND address = ''"
	deleteTokens      = "DELETE FROM user_token WHERE account_id = $1"
	deleteExpired     = "DELETE FROM user_token WHERE hash IN (SELECT hash FROM user_token WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)"

	// The identifier takes the place of the address, which must be unique. No address is equal to one: it has no @.
	eraseAccount = `UPDATE account SET email = id, password = $2, epoch = epoch + 1, locale = '', role = 'user', plan = 'free', disabled = 1, ended_at = $3,
		deleted_at = $3, confirmed_at = NULL, totp_key = NULL, totp_until = NULL, totp_last = 0, totp_spent = 0 WHERE id = $1`
	eraseInviteNotes = "UPDATE invite SET note = '' WHERE account_id = $1"

	updateEmail = "UPDATE account SET email = $2, confirmed_at = $3 WHERE id = $1"
	confirmOnce = "UPDATE account SET confirmed_at = coalesce(confirmed_at, $2) WHERE id = $1"

	upsertCode = `INSERT INTO account_code (account_id, purpose, hash, email, expires_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, purpose) DO UPDATE SET hash = excluded.hash, email = excluded.email, expires_at = excluded.expires_at`
	selectCode         = "SELECT account_id, hash, email, expires_at FROM account_code WHERE account_id = $1 AND purpose = $2"
	selectCodeByHash   = "SELECT account_id, hash, email, expires_at FROM account_code WHERE hash = $1 AND purpose = $2"
	deleteCode         = "DELETE FROM account_code WHERE account_id = $1 AND purpose = $2"
	deleteCodes        = "DELETE FROM account_code WHERE account_id = $1"
	deleteExpiredCodes = "DELETE FROM account_code WHERE hash IN (SELECT hash FROM account_code WHERE expires_at <= $1 LIMIT $2)"

	selectLink = "SELECT account_id, coalesce(refresh_at, 0) FROM oidc_link WHERE issuer = $1 AND subject = $2"
	insertLink = "INSERT INTO oidc_link (issuer, subject, account_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (issuer, subject) DO NOTHING"
	updateLink = "UPDATE oidc_link SET refresh = $3, refresh_at = $4 WHERE issuer = $1 AND subject = $2"
	// Only links of accounts that are signed in are refreshed.
	selectDue = `SELECT issuer, subject, account_id, refresh FROM oidc_link WHERE issuer = $1 AND refresh_at <= $2
		AND EXISTS (SELECT 1 FROM user_token WHERE user_token.account_id = oidc_link.account_id AND user_token.expires_at > $3) ORDER BY refresh_at LIMIT $4`
	// A link that was used to sign in meanwhile has another token, and stays as it is.
	refreshLink = "UPDATE oidc_link SET refresh = $4, refresh_at = $5 WHERE issuer = $1 AND subject = $2 AND refresh = $3"
	selectLinks = "SELECT issuer, subject, created_at FROM oidc_link WHERE account_id = $1 ORDER BY created_at DESC, subject"
	deleteLinks = "DELETE FROM oidc_link WHERE account_id = $1"

	insertState        = "INSERT INTO oidc_step (hash, tries, expires_at) VALUES ($1, 0, $2) ON CONFLICT (hash) DO NOTHING"
	insertTicket       = "INSERT INTO oidc_step (hash, account_id, identity, tries, expires_at) VALUES ($1, $2, $3, 0, $4)"
	selectTicket       = "SELECT account_id, identity FROM oidc_step WHERE hash = $1 AND account_id IS NOT NULL AND tries < $2 AND expires_at > $3"
	countTry           = "UPDATE oidc_step SET tries = tries + 1 WHERE hash = $1 AND tries < $2 AND expires_at > $3"
	deleteStep         = "DELETE FROM oidc_step WHERE hash = $1"
	deleteSteps        = "DELETE FROM oidc_step WHERE account_id = $1"
	deleteExpiredSteps = "DELETE FROM oidc_step WHERE hash IN (SELECT hash FROM oidc_step WHERE expires_at <= $1 LIMIT $2)"

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
	var created, confirmed int64
	dest := []any{
		&a.ID, &a.Email, &a.Locale, &a.Role, &a.Plan, &a.Disabled, &created,
		&a.password, &a.epoch, &a.totp.sealed, &a.totp.until, &a.totp.used.last, &a.totp.used.bits, &confirmed, &a.provisioned,
	}
	if err := row.Scan(append(dest, more...)...); err != nil {
		return nil, err
	}
	a.CreatedAt, a.ConfirmedAt = time.UnixMicro(created).UTC(), timeOf(confirmed)
	return &a, nil
}

func scanID(row db.Row) (account id.Account, err error) {
	err = row.Scan(&account)
	return account, err
}

// getAccount reads an account; nil without an error means that there is none.
func getAccount(ctx context.Context, q db.Queryer, query string, arg any) (*Account, error) {
	a, err := db.One(ctx, q, func(row db.Row) (*Account, error) { return scan(row) }, query, arg)
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

// sentCode is a code or link that was sent by mail.
type sentCode struct {
	account id.Account
	hash    []byte
	email   string
	expires int64 // microseconds since 1970
}

// getCode reads a code or link, nil if there is none.
func getCode(ctx context.Context, q db.Queryer, query string, args ...any) (*sentCode, error) {
	var c sentCode
	err := q.QueryRow(ctx, query, args...).Scan(&c.account, &c.hash, &c.email, &c.expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a code: %w", err)
	}
	return &c, nil
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
