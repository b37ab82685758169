package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// shut selects whether the account of an endpoint is disabled. It is read with the endpoint and not stored in its row,
// so that disabling an account does not have to change its endpoints.
const shut = "coalesce((SELECT disabled FROM account WHERE account.id = webhook.account_id), 0)"

// columns are what scan scans.
const columns = `id, account_id, url, events, coalesce(domain_id, ''), paused_reason, failures, attempts, secret, old_secret, old_secret_until,
	created_at, coalesce(last_delivery_at, 0), local, ` + shut

// deliveryColumns are what scanDelivery scans. The bodies of events are not among them.
const deliveryColumns = `id, event_id, event, attempt, succeeded, http_status, error, duration, attempted_at, coalesce(next_attempt_at, 0), response_body`

const (
	selectByID      = "SELECT " + columns + " FROM webhook WHERE id = $1"
	selectPage      = "SELECT " + columns + " FROM webhook WHERE account_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4"
	selectListeners = "SELECT id, account_id, events, coalesce(domain_id, ''), paused_reason, " + shut + " FROM webhook WHERE account_id IN "
	countWebhooks   = "SELECT count(*) FROM webhook WHERE account_id = $1"

	insertWebhook = `INSERT INTO webhook (id, account_id, url, events, domain_id, paused_reason, failures, attempts, secret, old_secret_until, created_at, local)
		VALUES ($1, $2, $3, $4, nullif($5, ''), '', 0, 0, $6, 0, $7, $8)`
	updateWebhook = `UPDATE webhook SET url = $2, events = $3, paused_reason = $4, failures = $5, secret = $6, old_secret = $7, old_secret_until = $8, local = $9
		WHERE id = $1`
	updateTried = `UPDATE webhook SET paused_reason = $2, failures = $3, attempts = $4, last_delivery_at = nullif(CAST($5 AS BIGINT), 0) WHERE id = $1`
	deleteByID  = "DELETE FROM webhook WHERE id = $1"

	selectDeliveries = "SELECT " + deliveryColumns + " FROM webhook_delivery WHERE webhook_id = $1 ORDER BY number DESC"
	selectSent       = `SELECT event_id, event, coalesce(mailbox_id, ''), coalesce(message_id, ''), body FROM webhook_delivery WHERE webhook_id = $1 AND id = $2 AND body <> ''`
	upsertDelivery   = `INSERT INTO webhook_delivery (webhook_id, slot, number, id, event_id, event, attempt, succeeded, http_status, error, duration,
		attempted_at, next_attempt_at, response_body, mailbox_id, message_id, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, nullif(CAST($13 AS BIGINT), 0), $14, nullif(CAST($15 AS TEXT), ''), nullif(CAST($16 AS TEXT), ''), $17)
		ON CONFLICT (webhook_id, slot) DO UPDATE SET number = excluded.number, id = excluded.id, event_id = excluded.event_id, event = excluded.event,
		attempt = excluded.attempt, succeeded = excluded.succeeded, http_status = excluded.http_status, error = excluded.error,
		duration = excluded.duration, attempted_at = excluded.attempted_at, next_attempt_at = excluded.next_attempt_at,
		response_body = excluded.response_body, mailbox_id = excluded.mailbox_id, message_id = excluded.message_id, body = excluded.body`
	deleteDeliveries = "DELETE FROM webhook_delivery WHERE webhook_id = $1"
)

// selectErased returns a row if a message still exists. On PostgreSQL it also locks the message until the transaction
// ends, so that the message cannot be deleted before the transaction has stored what a trigger then erases with it. On
// SQLite there is one writer.
func selectErased() db.Per {
	const query = "SELECT 1 FROM message WHERE mailbox_id = $1 AND id = $2"
	return db.Per{SQLite: query, Postgres: query + " FOR KEY SHARE"}
}

func scan(row db.Row) (*Endpoint, error) {
	var e Endpoint
	var events string
	var oldUntil, created, last int64
	err := row.Scan(&e.ID, &e.Account, &e.URL, &events, &e.Domain, &e.PausedReason, &e.FailureCount, &e.attempts, &e.secret, &e.old, &oldUntil, &created, &last, &e.local, &e.shut)
	if err != nil {
		return nil, err
	}
	e.oldUntil, e.CreatedAt, e.LastDeliveryAt = db.Moment(oldUntil), db.Moment(created), db.Moment(last)
	return &e, json.Unmarshal([]byte(events), &e.Events)
}

// scanListener scans the columns of selectListeners, which deciding on an event needs. Secrets are not among them.
func scanListener(row db.Row) (*Endpoint, error) {
	var e Endpoint
	var events string
	if err := row.Scan(&e.ID, &e.Account, &events, &e.Domain, &e.PausedReason, &e.shut); err != nil {
		return nil, err
	}
	return &e, json.Unmarshal([]byte(events), &e.Events)
}

// names encodes a list of event names for storing.
func names(events []event.Name) (string, error) {
	text, err := json.Marshal(events)
	return string(text), err
}

// get reads an endpoint; nil without an error means that there is none.
func get(ctx context.Context, q db.Queryer, webhook id.Webhook) (*Endpoint, error) {
	return found(scan(q.QueryRow(ctx, selectByID, webhook)))
}

// getForUpdateTx is get with a row lock, which SQLite, with its single writer, does not need.
func getForUpdateTx(ctx context.Context, tx *db.Tx, webhook id.Webhook) (*Endpoint, error) {
	query := selectByID + db.Per{Postgres: " FOR UPDATE"}.On(tx.Engine())
	return found(scan(tx.QueryRow(ctx, query, webhook)))
}

// found returns nil instead of an endpoint for sql.ErrNoRows.
func found(e *Endpoint, err error) (*Endpoint, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a webhook: %w", err)
	}
	return e, nil
}

// owned reads an account's endpoint. Error: webhook.not_found, also for an endpoint of another account.
func owned(ctx context.Context, q db.Queryer, account id.Account, webhook id.Webhook) (*Endpoint, error) {
	e, err := get(ctx, q, webhook)
	if err == nil && (e == nil || e.Account != account) {
		err = problem.New(problem.WebhookNotFound)
	}
	return e, err
}

// beyond is later than every creation, in microseconds since 1970.
const beyond int64 = 1 << 62

// page reads one page of an account's endpoints by their time of creation.
func page(ctx context.Context, q db.Queryer, account id.Account, before id.Webhook, max int) ([]*Endpoint, error) {
	created := beyond
	if before != "" {
		created = id.Time(before).UnixMicro() // the identifier contains the time of creation
	}
	all, err := db.Collect(ctx, q, scan, selectPage, account, created, before, max)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	return all, nil
}

// accountsMax bounds how many accounts one statement looks up: SQLite and PostgreSQL bound the arguments of a
// statement. It is the number of mails in a full batch.
const accountsMax = 512

// listenersTx reads the endpoints of the accounts of events, by account.
func listenersTx(ctx context.Context, tx *db.Tx, events []event.Event) (map[id.Account][]*Endpoint, error) {
	var accounts []id.Account
	listeners := make(map[id.Account][]*Endpoint)
	for _, ev := range events {
		if _, known := listeners[ev.Account]; ev.Account != "" && !known {
			listeners[ev.Account] = nil
			accounts = append(accounts, ev.Account)
		}
	}
	for some := range slices.Chunk(accounts, accountsMax) {
		list, args := db.In(1, some)
		endpoints, err := db.Collect(ctx, tx, scanListener, selectListeners+list, args...)
		if err != nil {
			return nil, fmt.Errorf("find the webhooks of %d accounts: %w", len(some), err)
		}
		for _, e := range endpoints {
			listeners[e.Account] = append(listeners[e.Account], e)
		}
	}
	return listeners, nil
}

func countTx(ctx context.Context, tx *db.Tx, account id.Account) (n int, err error) {
	if err := tx.QueryRow(ctx, countWebhooks, account).Scan(&n); err != nil {
		return 0, fmt.Errorf("count webhooks: %w", err)
	}
	return n, nil
}

func insertTx(ctx context.Context, tx *db.Tx, e *Endpoint) error {
	events, err := names(e.Events)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, insertWebhook, e.ID, e.Account, e.URL, events, e.Domain, e.secret, e.CreatedAt.UnixMicro(), e.local)
	return err
}

// saveTx stores what an owner can change. The number of attempts is not part of it, so an attempt that ends meanwhile
// counts.
func saveTx(ctx context.Context, tx *db.Tx, e *Endpoint) error {
	events, err := names(e.Events)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, updateWebhook, e.ID, e.URL, events, e.PausedReason, e.FailureCount, e.secret, e.old, db.Micros(e.oldUntil), e.local)
	return err
}

// saveAttemptTx stores what an attempt changes. The caller has locked the row with getForUpdateTx.
func saveAttemptTx(ctx context.Context, tx *db.Tx, e *Endpoint) error {
	return tx.Queue(ctx, updateTried, e.ID, e.PausedReason, e.FailureCount, e.attempts, db.Micros(e.LastDeliveryAt))
}

// deleteTx deletes an endpoint, its row first: transactions that store an attempt lock that row and then the attempt's, and
// the same order avoids deadlocks.
func deleteTx(ctx context.Context, tx *db.Tx, webhook id.Webhook) error {
	if _, err := tx.Exec(ctx, deleteByID, webhook); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, deleteDeliveries, webhook)
	return err
}

func scanDelivery(row db.Row) (*Delivery, error) {
	var d Delivery
	var took, at, next int64
	err := row.Scan(&d.ID, &d.EventID, &d.Event, &d.Attempt, &d.Succeeded, &d.HTTPStatus, &d.Error, &took, &at, &next, &d.Answer)
	d.Duration, d.AttemptedAt, d.NextAttemptAt = time.Duration(took)*time.Microsecond, db.Moment(at), db.Moment(next)
	return &d, err
}

func deliveries(ctx context.Context, q db.Queryer, webhook id.Webhook) ([]*Delivery, error) {
	all, err := db.Collect(ctx, q, scanDelivery, selectDeliveries, webhook)
	if err != nil {
		return nil, fmt.Errorf("list deliveries of %s: %w", webhook, err)
	}
	return all, nil
}

// insertDeliveryTx stores the attempt with a number in place of the one ringSize earlier. If the message that the
// event is about has been deleted, it is stored without its body: nothing of a mail outlives its message.
func insertDeliveryTx(ctx context.Context, tx *db.Tx, webhook id.Webhook, number int64, p payload, d *Delivery) error {
	body := string(p.Body)
	if p.Message != "" {
		var kept int
		switch err := tx.QueryRow(ctx, selectErased().On(tx.Engine()), p.Mailbox, p.Message).Scan(&kept); {
		case errors.Is(err, sql.ErrNoRows):
			body = ""
		case err != nil:
			return fmt.Errorf("look for message %s: %w", p.Message, err)
		}
	}
	return tx.Queue(ctx, upsertDelivery, webhook, number%ringSize, number, d.ID, d.EventID, d.Event, d.Attempt, d.Succeeded, d.HTTPStatus, d.Error,
		d.Duration.Microseconds(), d.AttemptedAt.UnixMicro(), db.Micros(d.NextAttemptAt), d.Answer, p.Mailbox, p.Message, body)
}

// sentTx reads the payload of an attempt. Error: webhook.delivery_not_found, also if it was erased with its message.
func sentTx(ctx context.Context, tx *db.Tx, webhook id.Webhook, delivery id.Delivery) (p payload, err error) {
	var body string
	err = tx.QueryRow(ctx, selectSent, webhook, delivery).Scan(&p.Event, &p.Name, &p.Mailbox, &p.Message, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return p, problem.New(problem.WebhookDeliveryNotFound)
	}
	if err != nil {
		return p, fmt.Errorf("read delivery %s: %w", delivery, err)
	}
	p.Body = json.RawMessage(body)
	return p, nil
}
