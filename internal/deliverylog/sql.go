package deliverylog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const (
	insertEntries = `INSERT INTO mail_delivery (address_hash, id, at, has_mailbox, sender, remote_ip, helo, tls, reply, code, reason, message_id, recipient)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
	selectEntries = `SELECT id, at, has_mailbox, sender, remote_ip, helo, tls, reply, code, reason, message_id, recipient FROM mail_delivery
		WHERE address_hash = $1 AND at > $2 AND (has_mailbox = 0 OR at >= $3) ORDER BY id DESC LIMIT $4`
	// selectRefusals has the list of addresses to be appended.
	selectRefusals = `SELECT address_hash, id, at, has_mailbox, sender, remote_ip, helo, tls, reply, code, reason, message_id, recipient FROM mail_delivery
		WHERE id > $1 AND reply >= 400 AND recipient = '' AND address_hash IN %s ORDER BY id DESC LIMIT %d`
	// $2 is the number of entries to keep, minus one: the offset of the oldest entry that is kept.
	trimEntries = `DELETE FROM mail_delivery WHERE address_hash = $1
		AND id < (SELECT id FROM mail_delivery WHERE address_hash = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)`
	eraseEntries = "DELETE FROM mail_delivery WHERE address_hash IN "
	selectBound  = "SELECT at FROM mail_delivery WHERE has_mailbox = $1 AND at > $2 ORDER BY at DESC LIMIT 1 OFFSET $3"
	sweepEntries = `DELETE FROM mail_delivery WHERE (address_hash, id) IN
		(SELECT address_hash, id FROM mail_delivery WHERE has_mailbox = $1 AND at <= $2 LIMIT $3)`
)

// sweepBatch is how many entries one transaction deletes. It is small, so that it does not block other writers for
// long.
const sweepBatch = 500

// insertTx inserts entries with one statement on PostgreSQL.
func insertTx(ctx context.Context, tx *db.Tx, entries []queuedEntry) error {
	n := len(entries)
	hashes := make(db.Octets, n)
	ids, senders, ips, helos := make(db.Texts, n), make(db.Texts, n), make(db.Texts, n), make(db.Texts, n)
	codes, reasons, messages, recipients := make(db.Texts, n), make(db.Texts, n), make(db.Texts, n), make(db.Texts, n)
	ats, mailboxes, tlss, replies := make(db.Numbers, n), make(db.Numbers, n), make(db.Numbers, n), make(db.Numbers, n)
	for i := range entries {
		p := &entries[i]
		hashes[i], ids[i], ats[i] = p.address[:], string(p.id), p.At.UnixMicro()
		mailboxes[i], tlss[i] = flag(p.HasMailbox), flag(p.TLS)
		senders[i], ips[i], helos[i] = p.From, p.RemoteIP.String(), p.Helo
		replies[i], codes[i], reasons[i] = int64(p.Reply), p.Code, p.Reason
		messages[i], recipients[i] = string(p.Message), p.Recipient
	}
	if err := tx.QueueEach(ctx, insertEntries, hashes, ids, ats, mailboxes, senders, ips, helos, tlss, replies, codes, reasons, messages, recipients); err != nil {
		return fmt.Errorf("write the delivery log: %w", err)
	}
	return nil
}

// flag returns a boolean in its stored form, 0 or 1.
func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// trimTx deletes all but the newest ListMax entries of addresses.
func trimTx(ctx context.Context, tx *db.Tx, addresses []hash) error {
	for _, h := range addresses {
		if err := tx.Queue(ctx, trimEntries, h[:], ListMax-1); err != nil {
			return fmt.Errorf("trim the delivery log: %w", err)
		}
	}
	return nil
}

// eraseTx deletes all entries of addresses.
func eraseTx(ctx context.Context, tx *db.Tx, addresses []hash) error {
	if len(addresses) == 0 {
		return nil
	}
	keys := make([][]byte, len(addresses))
	for i := range addresses {
		keys[i] = addresses[i][:]
	}
	in, args := db.In(1, keys)
	if err := tx.Queue(ctx, eraseEntries+in, args...); err != nil {
		return fmt.Errorf("erase the delivery log: %w", err)
	}
	return nil
}

// list returns at most ListMax entries of an address that are later than after, newest first. Entries with HasMailbox
// must also not be older than since.
func list(ctx context.Context, q db.Queryer, h hash, after, since time.Time) ([]queuedEntry, error) {
	all, err := db.Collect(ctx, q, scan, selectEntries, h[:], after.UnixMicro(), since.UnixMicro(), ListMax)
	if err != nil {
		return nil, fmt.Errorf("read the delivery log: %w", err)
	}
	return all, nil
}

// refusals returns at most max entries of refused mail for some addresses that are later than after, newest first.
func refusals(ctx context.Context, q db.Queryer, addresses []hash, after time.Time, max int) ([]queuedEntry, error) {
	keys := make([][]byte, len(addresses))
	for i := range addresses {
		keys[i] = addresses[i][:]
	}
	in, args := db.In(2, keys)
	args = append([]any{id.Last[id.Arrival](after)}, args...)
	all, err := db.Collect(ctx, q, scanAddressed, fmt.Sprintf(selectRefusals, in, max), args...)
	if err != nil {
		return nil, fmt.Errorf("read the refusals of the delivery log: %w", err)
	}
	return all, nil
}

// scan reads a row of selectEntries. It leaves address zero, since the caller has it.
func scan(row db.Row) (queuedEntry, error) { return scanEntry(row) }

// scanAddressed reads a row of selectRefusals.
func scanAddressed(row db.Row) (queuedEntry, error) {
	var h []byte
	p, err := scanEntry(row, &h)
	copy(p.address[:], h)
	return p, err
}

// scanEntry reads the columns of an entry, and those that the statement selects before them.
func scanEntry(row db.Row, before ...any) (p queuedEntry, err error) {
	var at, hasMailbox, tls int64
	var ip string
	err = row.Scan(append(before, &p.id, &at, &hasMailbox, &p.From, &ip, &p.Helo, &tls, &p.Reply, &p.Code, &p.Reason, &p.Message, &p.Recipient)...)
	if err != nil {
		return p, err
	}
	p.At, p.HasMailbox, p.TLS = time.UnixMicro(at).UTC(), hasMailbox != 0, tls != 0
	if p.RemoteIP, err = netip.ParseAddr(ip); err != nil {
		return p, fmt.Errorf("stored address of a client: %w", err)
	}
	return p, nil
}

// cutoff returns the time, in microseconds since 1970, up to which Sweep deletes entries. That is after, or a later time
// if more than rows entries are later than after. hasMailbox is 0 or 1.
func cutoff(ctx context.Context, q db.Queryer, hasMailbox, rows int, after time.Time) (int64, error) {
	var at int64
	err := q.QueryRow(ctx, selectBound, hasMailbox, after.UnixMicro(), rows).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return after.UnixMicro(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("find the cutoff of the delivery log: %w", err)
	}
	return at, nil
}

// sweepTx deletes a batch of entries up to the time oldest, in microseconds since 1970. done is true after the last
// batch. hasMailbox is 0 or 1.
func sweepTx(ctx context.Context, tx *db.Tx, hasMailbox int, oldest int64) (done bool, err error) {
	n, err := tx.Exec(ctx, sweepEntries, hasMailbox, oldest, sweepBatch)
	if err != nil {
		return false, fmt.Errorf("sweep the delivery log: %w", err)
	}
	return n < sweepBatch, nil
}
