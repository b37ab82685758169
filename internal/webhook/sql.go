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

// accountDisabled selects whether the account of an endpoint is disabled. It is read with the endpoint and not stored in its row,
// so that disabling an account does not have to change its endpoints.
const accountDisabled = "coalesce((SELECT disabled FROM account WHERE account.id = webhook.account_id), 0)"

// columns are what scan scans.
const columns = `id, account_id, url, events, coalesce(domain_id, ''), paused_reason, failures, attempts, secret, old_secret, old_secret_until,
	created_at, coalesce(last_delivery_at, 0), local, ` + accountDisabled

// deliveryColumns are what scanDelivery scans. The bodies of events are not among them.
const deliveryColumns = `id, event_id, event, attempt, succeeded, http_status, error, duration, attempted_at, coalesce(next_attempt_at, 0), response_body`

const (
	selectByID          = "SELECT " + columns + " FROM webhook WHERE id = $1"
	selectPage          = "SELECT " + columns + " FROM webhook WHERE account_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4"
	selectSubscriptions = "SELECT id, account_id, events, coalesce(domain_id, ''), paused_reason, " + accountDisabled + " FROM webhook WHERE account_id IN "
	countWebhooks       = "SELECT count(*) FROM webhook WHERE account_id = $1"

	insertWebhook = `INSERT INTO webhook (id, account_id, url, events, domain_id, paused_reason, failures, attempts, secret, old_secret_until, created_at, local)
		VALUES ($1, $2, $3, $4, nullif($5, ''), '', 0, 0, $6, 0, $7, $8)`
	updateWebhook = `UPDATE webhook SET url = $2, events = $3, paused_reason = $4, failures = $5, secret = $6, old_secret = $7, old_secret_until = $8, local = $9
		WHERE id = $1`
	updateAfterAttempt = `UPDATE webhook SET paused_reason = $2, failures = $3, attempts = $4, last_delivery_at = nullif(CAST($5 AS BIGINT), 0) WHERE id = $1`
	selectIDs          = "SELECT id FROM webhook WHERE account_id = $1"
	deleteByID         = "DELETE FROM webhook WHERE id = $1"

	selectDeliveries = "SELECT " + deliveryColumns + " FROM webhook_delivery WHERE webhook_id = $1 ORDER BY number DESC"
	selectPayload    = `SELECT event_id, event, coalesce(mailbox_id, ''), coalesce(message_id, ''), body FROM webhook_delivery WHERE webhook_id = $1 AND id = $2 AND body <> ''`
	upsertDelivery   = `INSERT INTO webhook_delivery (webhook_id, slot, number, id, event_id, event, attempt, succeeded, http_status, error, duration,
		attempted_at, next_attempt_at, response_body, mailbox_id, message_id, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, nullif(CAST($13 AS BIGINT), 0), $14, nullif(CAST($15 AS TEXT), ''), nullif(CAST($16 AS TEXT), ''), $17)
		ON CONFLICT (webhook_id, slot) DO UPDATE SET number = excluded.number, id = excluded.id, event_id = excluded.event_id, event = excluded.event,
		attempt = excluded.attempt, succeeded = excluded.succeeded, http_status = excluded.http_status, error = excluded.error,
		duration = excluded.duration, attempted_at = excluded.attempted_at, next_attempt_at = excluded.next_attempt_at,
		response_body = excluded.response_body, mailbox_id = excluded.mailbox_id, message_id = excluded.message_id, body = excluded.body`
	deleteDeliveries = "DELETE FROM webhook_delivery WHERE webhook_id = $1"
)

// selectMessage returns a row if a message still exists. On PostgreSQL it also locks the message until the transaction
// ends, so that the message cannot be deleted before the transaction has stored what a trigger then erases with it. On
// SQLite there is one writer.
func selectMessage() db.Per {
	const query = "SELECT 1 FROM message WHERE mailbox_id = $1 AND id = $2"
	return db.Per{SQLite: query, Postgres: query + " FOR KEY SHARE"}
}

func scan(row db.Row) (*Endpoint, error) {
	var e Endpoint
	var events string
	var oldUntil, created, last int64
	err := row.Scan(&e.ID, &e.Account, &e.URL, &events, &e.Domain, &e.PausedReason, &e.FailureCount, &e.attempts, &e.secret, &e.oldSecret, &oldUntil, &created, &last, &e.local, &e.accountDisabled)
	if err != nil {
		return nil, err
	}
	e.oldSecretUntil, e.CreatedAt, e.LastDeliveryAt = db.Moment(oldUntil), db.Moment(created), db.Moment(last)
	return &e, json.Unmarshal([]byte(events), &e.Events)
}

// scanSubscription scans the columns of selectSubscriptions, which are those needed to decide whether an endpoint gets an
// event. The other fields of the Endpoint are not set.
func scanSubscription(row db.Row) (*Endpoint, error) {
	var e Endpoint
	var events string
	if err := row.Scan(&e.ID, &e.Account, &events, &e.Domain, &e.PausedReason, &e.accountDisabled); err != nil {
		return nil, err
	}
	return &e, json.Unmarshal([]byte(events), &e.Events)
}

// encodeEvents encodes event names in their stored form.
func encodeEvents(events []event.Name) (string, error) {
	text, err := json.Marshal(events)
	return string(text), err
}

// get reads an endpoint; nil without an error means that there is none.
func get(ctx context.Context, q db.Queryer, webhook id.Webhook) (*Endpoint, error) {
	return orNil(scan(q.QueryRow(ctx, selectByID, webhook)))
}

// getForUpdateTx is get with a row lock, which SQLite, with its single writer, does not need.
func getForUpdateTx(ctx context.Context, tx *db.Tx, webhook id.Webhook) (*Endpoint, error) {
	query := selectByID + db.Per{Postgres: " FOR UPDATE"}.On(tx.Engine())
	return orNil(scan(tx.QueryRow(ctx, query, webhook)))
}

// orNil turns sql.ErrNoRows into a nil endpoint without an error.
func orNil(e *Endpoint, err error) (*Endpoint, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a webhook: %w", err)
	}
	return e, nil
}

// getOwned reads an endpoint of an account. Error: webhook.not_found, also for an endpoint of another account.
func getOwned(ctx context.Context, q db.Queryer, account id.Account, webhook id.Webhook) (*Endpoint, error) {
	e, err := get(ctx, q, webhook)
	if err == nil && (e == nil || e.Account != account) {
		err = problem.New(problem.WebhookNotFound)
	}
	return e, err
}

// maxTime is later than the creation of any endpoint, in microseconds since 1970.
const maxTime int64 = 1 << 62

// page reads one page of an account's endpoints by their time of creation.
func page(ctx context.Context, q db.Queryer, account id.Account, before id.Webhook, max int) ([]*Endpoint, error) {
	created := maxTime
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

// subscriptionsTx reads the endpoints of all accounts that the events belong to, and returns them by account.
func subscriptionsTx(ctx context.Context, tx *db.Tx, events []event.Event) (map[id.Account][]*Endpoint, error) {
	var accounts []id.Account
	subscriptions := make(map[id.Account][]*Endpoint)
	for _, ev := range events {
		if _, known := subscriptions[ev.Account]; ev.Account != "" && !known {
			subscriptions[ev.Account] = nil
			accounts = append(accounts, ev.Account)
		}
	}
	for chunk := range slices.Chunk(accounts, accountsMax) {
		list, args := db.In(1, chunk)
		endpoints, err := db.Collect(ctx, tx, scanSubscription, selectSubscriptions+list, args...)
		if err != nil {
			return nil, fmt.Errorf("find the webhooks of %d accounts: %w", len(chunk), err)
		}
		for _, e := range endpoints {
			subscriptions[e.Account] = append(subscriptions[e.Account], e)
		}
	}
	return subscriptions, nil
}

// countTx returns how many endpoints an account has.
func countTx(ctx context.Context, tx *db.Tx, account id.Account) (n int, err error) {
	if err := tx.QueryRow(ctx, countWebhooks, account).Scan(&n); err != nil {
		return 0, fmt.Errorf("count webhooks: %w", err)
	}
	return n, nil
}

func insertTx(ctx context.Context, tx *db.Tx, e *Endpoint) error {
	events, err := encodeEvents(e.Events)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, insertWebhook, e.ID, e.Account, e.URL, events, e.Domain, e.secret, e.CreatedAt.UnixMicro(), e.local)
	return err
}

// saveTx stores the fields that an owner can change. The number of attempts is not one of them, so that saveTx does not
// undo the count of an attempt that ends at the same time.
func saveTx(ctx context.Context, tx *db.Tx, e *Endpoint) error {
	events, err := encodeEvents(e.Events)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, updateWebhook, e.ID, e.URL, events, e.PausedReason, e.FailureCount, e.secret, e.oldSecret, db.Micros(e.oldSecretUntil), e.local)
	return err
}

// saveAttemptTx stores the fields that an attempt changes. The caller has locked the row with getForUpdateTx.
func saveAttemptTx(ctx context.Context, tx *db.Tx, e *Endpoint) error {
	return tx.Queue(ctx, updateAfterAttempt, e.ID, e.PausedReason, e.FailureCount, e.attempts, db.Micros(e.LastDeliveryAt))
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
	var duration, at, next int64
	err := row.Scan(&d.ID, &d.EventID, &d.Event, &d.Attempt, &d.Succeeded, &d.HTTPStatus, &d.Error, &duration, &at, &next, &d.ResponseBody)
	d.Duration, d.AttemptedAt, d.NextAttemptAt = time.Duration(duration)*time.Microsecond, db.Moment(at), db.Moment(next)
	return &d, err
}

// deliveries lists the stored attempts of an endpoint, newest first.
func deliveries(ctx context.Context, q db.Queryer, webhook id.Webhook) ([]*Delivery, error) {
	all, err := db.Collect(ctx, q, scanDelivery, selectDeliveries, webhook)
	if err != nil {
		return nil, fmt.Errorf("list deliveries of %s: %w", webhook, err)
	}
	return all, nil
}

// insertDeliveryTx stores the attempt with the given number, replacing the one ringSize earlier. If the message that the
// event is about has been deleted, it is stored without its body: nothing of a mail is kept longer than its message.
func insertDeliveryTx(ctx context.Context, tx *db.Tx, webhook id.Webhook, number int64, p payload, d *Delivery) error {
	body := string(p.Body)
	if p.Message != "" {
		var exists int
		switch err := tx.QueryRow(ctx, selectMessage().On(tx.Engine()), p.Mailbox, p.Message).Scan(&exists); {
		case errors.Is(err, sql.ErrNoRows):
			body = ""
		case err != nil:
			return fmt.Errorf("look for message %s: %w", p.Message, err)
		}
	}
	return tx.Queue(ctx, upsertDelivery, webhook, number%ringSize, number, d.ID, d.EventID, d.Event, d.Attempt, d.Succeeded, d.HTTPStatus, d.Error,
		d.Duration.Microseconds(), d.AttemptedAt.UnixMicro(), db.Micros(d.NextAttemptAt), d.ResponseBody, p.Mailbox, p.Message, body)
}

// getPayloadTx reads the payload of a stored attempt. Error: webhook.delivery_not_found, also if it was erased with its message.
func getPayloadTx(ctx context.Context, tx *db.Tx, webhook id.Webhook, delivery id.Delivery) (p payload, err error) {
	var body string
	err = tx.QueryRow(ctx, selectPayload, webhook, delivery).Scan(&p.Event, &p.Name, &p.Mailbox, &p.Message, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return p, problem.New(problem.WebhookDeliveryNotFound)
	}
	if err != nil {
		return p, fmt.Errorf("read delivery %s: %w", delivery, err)
	}
	p.Body = json.RawMessage(body)
	return p, nil
}
