package mailbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const columns = `id, coalesce(address, ''), local_part, domain, source, coalesce(session_id, ''), coalesce(account_id, ''),
	coalesce(key_prefix, ''), coalesce(domain_id, ''), created_at, expires_at, ended_at IS NOT NULL, epoch,
	message_count, unread_count, last_message_at, day, day_count`

// mailColumns are the columns that receiving mail needs. Reading these alone takes half the time of reading all.
const mailColumns = `id, address, source, coalesce(account_id, ''), coalesce(domain_id, ''), expires_at, epoch, message_count, unread_count, last_message_at, day, day_count`

const changeColumns = "id, mailbox_id, at, kind, message_id, seen, coalesce(expires_at, 0)"

const (
	selectByID        = "SELECT " + columns + " FROM mailbox WHERE id = $1"
	selectByAddress   = "SELECT " + columns + " FROM mailbox WHERE address = $1"
	selectForMail     = "SELECT " + mailColumns + " FROM mailbox WHERE address = $1"
	selectByAddresses = "SELECT " + mailColumns + " FROM mailbox WHERE address IN "
	selectBySession   = "SELECT " + columns + " FROM mailbox WHERE session_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY created_at DESC, id DESC LIMIT $3"
	selectByAccount   = "SELECT " + columns + " FROM mailbox WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2 AND (created_at, id) < ($3, $4) ORDER BY created_at DESC, id DESC LIMIT $5"
	selectAccountIDs  = "SELECT id FROM mailbox WHERE account_id = $1 AND ended_at IS NULL UNION ALL " + selectJoined
	countSession      = "SELECT count(*) FROM mailbox WHERE session_id = $1 AND ended_at IS NULL AND expires_at > $2"

	insertMailbox = `INSERT INTO mailbox (id, address, local_part, domain, source, session_id, account_id, key_prefix, domain_id,
		created_at, expires_at, password, epoch, message_count, unread_count, last_message_at, day, day_count)
		VALUES ($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), nullif($8, ''), nullif($9, ''), $10, $11, nullif($12, ''), 1, 0, 0, 0, 0, 0)`
	selectPassword  = "SELECT coalesce(password, '') FROM mailbox WHERE id = $1"
	updateExpiry    = "UPDATE mailbox SET expires_at = $2 WHERE id = $1"
	updateEnded     = "UPDATE mailbox SET address = NULL, ended_at = $2, epoch = $3 WHERE id = $1"
	updateCounts    = "UPDATE mailbox SET message_count = message_count + $2, unread_count = unread_count + $3 WHERE id = $1"
	leaveSession    = "UPDATE mailbox SET session_id = NULL WHERE session_id = $1"
	selectAddresses = "SELECT local_part || '@' || domain FROM mailbox WHERE id IN "
	selectExisting  = "SELECT id FROM mailbox WHERE id IN "
	countSources    = "SELECT source, count(*) FROM mailbox WHERE ended_at IS NULL GROUP BY source"
	deleteAll       = "DELETE FROM mailbox WHERE id IN "
	expireAll       = "UPDATE mailbox SET expires_at = $2, epoch = epoch + 1 WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2"
	nextEpochs      = "UPDATE mailbox SET epoch = epoch + 1 WHERE account_id = $1 AND ended_at IS NULL"

	selectExpired = "SELECT " + columns + " FROM mailbox WHERE ended_at IS NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2"
	selectEnded   = "SELECT id, ended_at FROM mailbox WHERE ended_at IS NOT NULL ORDER BY ended_at LIMIT $1"

	selectAccountExpired = "SELECT " + columns + " FROM mailbox WHERE account_id = $1 AND ended_at IS NULL AND expires_at <= $2 AND source NOT IN ('sink', 'project') ORDER BY expires_at LIMIT $3"

	selectPrivate = "SELECT " + columns + " FROM mailbox WHERE domain_id = $1 AND ended_at IS NULL LIMIT $2"

	// The index mailbox_expires serves it. The sink's mailboxes do not depend on a public domain.
	selectLiveOn = `SELECT count(*) > 0 FROM (SELECT 1 FROM mailbox WHERE ended_at IS NULL AND expires_at > $1 AND domain = $2
		AND domain_id IS NULL AND source <> 'sink' LIMIT 1) AS live`

	selectNames = `SELECT id, local_part, domain FROM mailbox WHERE id > $1 AND ended_at IS NULL AND domain_id IS NULL
		AND source NOT IN ('sink', 'staff', 'project') ORDER BY id LIMIT $2`

	// A sweep ends expired mailboxes and lowers the count of their owner in one transaction, so both are read by one statement.
	selectUnexpired = `SELECT live - (SELECT count(*) FROM mailbox WHERE account_id = $1 AND ended_at IS NULL AND expires_at <= $2
		AND source NOT IN ('sink', 'project')) FROM mailbox_owner WHERE account_id = $1`

	selectOwner = "SELECT live FROM mailbox_owner WHERE account_id = $1"
	upsertOwner = `INSERT INTO mailbox_owner (account_id, live, sink_live) VALUES ($1, $2, 0)
		ON CONFLICT (account_id) DO UPDATE SET live = mailbox_owner.live + excluded.live`

	selectSinkLive   = "SELECT sink_live FROM mailbox_owner WHERE account_id = $1"
	selectSinkOldest = "SELECT " + columns + " FROM mailbox WHERE account_id = $1 AND source = 'sink' AND ended_at IS NULL ORDER BY created_at, id LIMIT $2"
	upsertSinkLive   = `INSERT INTO mailbox_owner (account_id, live, sink_live) VALUES ($1, 0, $2)
		ON CONFLICT (account_id) DO UPDATE SET sink_live = mailbox_owner.sink_live + excluded.sink_live`

	insertOwner     = "INSERT INTO mailbox_owner (account_id, live, sink_live) VALUES ($1, 0, 0) ON CONFLICT (account_id) DO NOTHING"
	selectDayCount  = "SELECT day, count FROM mail_day WHERE account_id = $1"
	selectDayCounts = "SELECT account_id, day, count, last_at FROM mail_day WHERE account_id IN "
	insertDayCount  = "INSERT INTO mail_day (account_id, day, count, last_at) VALUES ($1, 0, 0, 0) ON CONFLICT (account_id) DO NOTHING"
	upsertDayCount  = `INSERT INTO mail_day (account_id, day, count, last_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id) DO UPDATE SET day = excluded.day, count = excluded.count, last_at = excluded.last_at`

	upsertHold = `INSERT INTO address_hold (address_hash, account_id, until) VALUES ($1, nullif($2, ''), $3)
		ON CONFLICT (address_hash) DO UPDATE SET account_id = excluded.account_id, until = excluded.until`
	selectHold  = "SELECT coalesce(account_id, ''), until FROM address_hold WHERE address_hash = $1"
	deleteHold  = "DELETE FROM address_hold WHERE address_hash = $1"
	deleteHolds = "DELETE FROM address_hold WHERE address_hash IN (SELECT address_hash FROM address_hold WHERE until <= $1 LIMIT $2)"

	insertChange = `INSERT INTO mailbox_change (id, mailbox_id, account_id, at, kind, message_id, seen, expires_at)
		VALUES ($1, $2, nullif($3, ''), $4, $5, $6, $7, nullif($8, 0))`
	selectChanges        = "SELECT " + changeColumns + " FROM mailbox_change WHERE mailbox_id = $1 AND at > $2 ORDER BY at, id"
	selectAccountChanges = "SELECT " + changeColumns + " FROM mailbox_change WHERE account_id = $1 AND at > $2 UNION ALL SELECT " + changeColumns +
		" FROM mailbox_change WHERE mailbox_id IN (" + selectJoined + ") AND at > $2 ORDER BY at, id"
	deleteChanges   = "DELETE FROM mailbox_change WHERE id IN (SELECT id FROM mailbox_change WHERE at <= $1 LIMIT $2)"
	deleteChangesOf = "DELETE FROM mailbox_change WHERE mailbox_id IN "

	// selectHolders has what Holders returns: the mailboxes of an account, and those that it is a member of. An empty text restricts nothing.
	selectHolders = `SELECT m.id, m.address, m.created_at, m.last_message_at, m.message_count, m.unread_count, m.joined FROM (
		SELECT mailbox.*, 0 AS joined FROM mailbox WHERE account_id = $1
		UNION ALL SELECT mailbox.*, b.created_at AS joined FROM mailbox_member b JOIN mailbox ON mailbox.id = b.mailbox_id WHERE b.account_id = $1) AS m
		WHERE m.ended_at IS NULL AND m.expires_at > $2 AND m.last_message_at > $3
		AND ($4 = '' OR m.id = $4 OR m.address = $4) AND ($5 = '' OR m.domain = $5) AND ($6 = '' OR m.source = $6) AND ($7 = '' OR m.address = $7)
		ORDER BY m.last_message_at DESC LIMIT $8`

	selectAccount         = "SELECT coalesce(account_id, ''), source FROM mailbox WHERE id = $1"
	selectNewestOfAccount = `SELECT coalesce(max(last), 0) FROM (SELECT max(last_message_at) AS last FROM mailbox WHERE account_id = $1
		UNION ALL SELECT max(last_message_at) AS last FROM mailbox WHERE id IN (` + selectJoined + `)) AS newest`
	selectReceived = `SELECT id, last_message_at FROM mailbox WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2 AND last_message_at > $3
		UNION ALL SELECT id, last_message_at FROM mailbox WHERE id IN (` + selectJoined + `) AND ended_at IS NULL AND expires_at > $2 AND last_message_at > $3
		ORDER BY id`

	selectJoined  = "SELECT mailbox_id FROM mailbox_member WHERE account_id = $1"
	selectMembers = "SELECT b.mailbox_id, b.account_id FROM mailbox_member b JOIN account ON account.id = b.account_id WHERE b.mailbox_id IN "
	upsertMember  = `INSERT INTO mailbox_member (account_id, mailbox_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, mailbox_id) DO UPDATE SET role = excluded.role`
	deleteMember = "DELETE FROM mailbox_member WHERE account_id = $1 AND mailbox_id = $2"
	nextJoined   = "UPDATE mailbox SET epoch = epoch + 1 WHERE id IN (" + selectJoined + ") AND ended_at IS NULL"
	nextEpoch    = "UPDATE mailbox SET epoch = epoch + 1 WHERE id = $1"
	updateName   = "UPDATE mailbox SET address = $2, local_part = $3 WHERE id = $1"
)

// updateReceived writes the counts of mailboxes: with SQLite one by one, with PostgreSQL as arrays in one statement.
var updateReceived = db.Per{
	SQLite: "UPDATE mailbox SET message_count = $2, unread_count = $3, last_message_at = $4, day = $5, day_count = $6 WHERE id = $1",
	Postgres: `UPDATE mailbox SET message_count = new.messages, unread_count = new.unread, last_message_at = new.last,
		day = new.day, day_count = new.day_count
		FROM (SELECT $1 AS id, $2 AS messages, $3 AS unread, $4 AS last, $5 AS day, $6 AS day_count) AS new WHERE mailbox.id = new.id`,
}

// forUpdate locks the rows that a batch of mail relies on, with PostgreSQL, where others write at the same time
// (db.DB.UpdateLocked). All batches lock in the same order: mailboxes by address, private domains, daily counts by account, accounts,
// expired mailboxes.
const forUpdate = " FOR UPDATE"

// boxName is the address of a live mailbox that is on no private domain.
type boxName struct {
	id            id.Mailbox
	local, domain string
}

// listNames returns at most max of these mailboxes, in the order of their identifiers, beginning behind last.
func listNames(ctx context.Context, q db.Queryer, last id.Mailbox, max int) ([]boxName, error) {
	return db.Collect(ctx, q, func(row db.Row) (n boxName, err error) {
		err = row.Scan(&n.id, &n.local, &n.domain)
		return n, err
	}, selectNames, last, max)
}

func scanID(row db.Row) (box id.Mailbox, err error) {
	err = row.Scan(&box)
	return box, err
}

func byAddress(e db.Engine) string {
	return db.Per{Postgres: " ORDER BY address" + forUpdate}.On(e)
}

func byAccount(e db.Engine) string {
	return db.Per{Postgres: " ORDER BY account_id" + forUpdate}.On(e)
}

func locked(query string, e db.Engine) string {
	return query + db.Per{Postgres: forUpdate}.On(e)
}

func scan(row db.Row) (*Mailbox, error) {
	var m Mailbox
	var created, expires int64
	err := row.Scan(&m.ID, &m.Address, &m.LocalPart, &m.Domain, &m.Source, &m.Owner.Session, &m.Owner.Account,
		&m.Owner.Key, &m.Owner.Domain, &created, &expires, &m.ended, &m.epoch,
		&m.MessageCount, &m.UnreadCount, &m.lastAt, &m.own.day, &m.own.count)
	if err != nil {
		return nil, err
	}
	if m.Address == "" { // ended: the column was cleared, so that the address can be used again
		m.Address = m.LocalPart + "@" + m.Domain
	}
	m.CreatedAt, m.ExpiresAt = time.UnixMicro(created).UTC(), time.UnixMicro(expires).UTC()
	return &m, nil
}

// scanForMail scans mailColumns. It scans into strings and int64s, which database/sql assigns directly; it uses reflection for other
// types.
func scanForMail(row db.Row) (*Mailbox, error) {
	var r struct {
		box, address, source, account, domain                 string
		expires, epoch, messages, unread, last, day, dayCount int64
	}
	err := row.Scan(&r.box, &r.address, &r.source, &r.account, &r.domain, &r.expires, &r.epoch, &r.messages, &r.unread, &r.last, &r.day, &r.dayCount)
	if err != nil {
		return nil, err
	}
	return &Mailbox{
		ID: id.Mailbox(r.box), Address: r.address, Source: Source(r.source), Owner: Owner{Account: id.Account(r.account), Domain: id.Domain(r.domain)},
		ExpiresAt: time.UnixMicro(r.expires).UTC(), epoch: uint32(r.epoch), MessageCount: int(r.messages), UnreadCount: int(r.unread),
		lastAt: r.last, own: dayCount{r.day, int(r.dayCount)},
	}, nil
}

// forMail reads the mailbox at an address with the fields of mailColumns. It returns nil if there is none.
func forMail(ctx context.Context, q db.Queryer, address string) (*Mailbox, error) {
	m, err := db.One(ctx, q, scanForMail, selectForMail, address)
	if err != nil {
		return nil, fmt.Errorf("read mailbox %s: %w", address, err)
	}
	return m, nil
}

// one reads a mailbox. It returns nil if there is none.
func one(ctx context.Context, q db.Queryer, query string, arg any) (*Mailbox, error) {
	m, err := db.One(ctx, q, scan, query, arg)
	if err != nil {
		return nil, fmt.Errorf("read mailbox %v: %w", arg, err)
	}
	return m, nil
}

func many(ctx context.Context, q db.Queryer, query string, args ...any) ([]*Mailbox, error) {
	all, err := db.Collect(ctx, q, scan, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list mailboxes: %w", err)
	}
	return all, nil
}

func insert(ctx context.Context, tx *db.Tx, m *Mailbox) error {
	return tx.Queue(ctx, insertMailbox, m.ID, m.Address, m.LocalPart, m.Domain, m.Source, m.Owner.Session,
		m.Owner.Account, m.Owner.Key, m.Owner.Domain, m.CreatedAt.UnixMicro(), m.ExpiresAt.UnixMicro(), m.password)
}

// endedIDs returns mailboxes that have ended and are not yet erased, the earliest first, and when that one ended.
func endedIDs(ctx context.Context, q db.Queryer, max int) (boxes []id.Mailbox, first time.Time, err error) {
	boxes, err = db.Collect(ctx, q, func(row db.Row) (box id.Mailbox, err error) {
		var ended int64
		err = row.Scan(&box, &ended)
		if first.IsZero() {
			first = timeOf(ended)
		}
		return box, err
	}, selectEnded, max)
	if err != nil {
		return nil, first, fmt.Errorf("list ended mailboxes: %w", err)
	}
	return boxes, first, nil
}

// addressesTx returns the addresses of mailboxes, also of those that have ended.
func addressesTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox) ([]string, error) {
	list, args := db.In(1, boxes)
	all, err := db.Collect(ctx, tx, db.Value[string], selectAddresses+list, args...)
	if err != nil {
		return nil, fmt.Errorf("read the addresses of %d mailboxes: %w", len(boxes), err)
	}
	return all, nil
}

// ExistingTx returns those of some mailboxes that are not erased, also those that have ended.
func (s *Service) ExistingTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox) ([]id.Mailbox, error) {
	list, args := db.In(1, boxes)
	all, err := db.Collect(ctx, tx, db.Value[id.Mailbox], selectExisting+list, args...)
	if err != nil {
		return nil, fmt.Errorf("look for %d mailboxes: %w", len(boxes), err)
	}
	return all, nil
}

// CountBySource returns how many mailboxes of each source have not ended, without sources that have none.
func (s *Service) CountBySource(ctx context.Context) (map[Source]int64, error) {
	counts := make(map[Source]int64)
	_, err := db.Collect(ctx, s.db, func(row db.Row) (n int64, err error) {
		var source Source
		err = row.Scan(&source, &n)
		counts[source] = n
		return n, err
	}, countSources)
	if err != nil {
		return nil, fmt.Errorf("count mailboxes: %w", err)
	}
	return counts, nil
}

// deleteTx deletes mailboxes, and what was recorded of their changes.
func deleteTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox) error {
	list, args := db.In(1, boxes)
	if err := tx.Queue(ctx, deleteChangesOf+list, args...); err != nil {
		return err
	}
	return tx.Queue(ctx, deleteAll+list, args...)
}

// lockLiveTx is liveOf with a row lock. It inserts a count for an account that has none.
func lockLiveTx(ctx context.Context, tx *db.Tx, account id.Account) (live int, err error) {
	if err := tx.Queue(ctx, insertOwner, account); err != nil {
		return 0, err
	}
	if err := tx.QueryRow(ctx, locked(selectOwner, tx.Engine()), account).Scan(&live); err != nil {
		return 0, fmt.Errorf("read the count of %s: %w", account, err)
	}
	return live, nil
}

// liveOf returns how many mailboxes of an account have not ended.
func liveOf(ctx context.Context, q db.Queryer, account id.Account) (live int, err error) {
	return ownerCount(q.QueryRow(ctx, selectOwner, account), account)
}

// unexpiredOf returns how many mailboxes of an account have neither ended nor expired.
func unexpiredOf(ctx context.Context, q db.Queryer, account id.Account, now time.Time) (live int, err error) {
	return ownerCount(q.QueryRow(ctx, selectUnexpired, account, now.UnixMicro()), account)
}

// ownerCount reads a count of the mailboxes of an account, which is 0 for an account without a row.
func ownerCount(row *sql.Row, account id.Account) (n int, err error) {
	err = row.Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the count of %s: %w", account, err)
	}
	return n, nil
}

// dayCountOf returns the daily count of an account.
func dayCountOf(ctx context.Context, q db.Queryer, account id.Account) (*dayCount, error) {
	c := new(dayCount)
	err := q.QueryRow(ctx, selectDayCount, account).Scan(&c.day, &c.count)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the day's mail of %s: %w", account, err)
	}
	return c, nil
}

// changeRows collects rows of mailbox_change, column by column.
type changeRows struct {
	ids, boxes, accounts, kinds db.Texts
	at, seen, expires           db.Numbers
	messages                    db.OptionalOctets
}

func (r *changeRows) add(c Change, account id.Account, at time.Time) {
	var seen int64
	if c.Seen {
		seen = 1
	}
	var message []byte
	if c.Message != "" {
		uuid := id.Bytes(c.Message)
		message = uuid[:]
	}
	r.ids, r.boxes, r.accounts = append(r.ids, string(id.New[id.Event](at))), append(r.boxes, string(c.Mailbox)), append(r.accounts, string(account))
	r.at, r.kinds, r.messages = append(r.at, at.UnixMicro()), append(r.kinds, string(c.Kind)), append(r.messages, message)
	r.seen, r.expires = append(r.seen, seen), append(r.expires, micro(c.ExpiresAt))
}

func (r *changeRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertChange, r.ids, r.boxes, r.accounts, r.at, r.kinds, r.messages, r.seen, r.expires)
}

func scanChange(row db.Row) (c Change, err error) {
	var at, expires int64
	var message []byte
	if err := row.Scan(&c.ID, &c.Mailbox, &at, &c.Kind, &message, &c.Seen, &expires); err != nil {
		return c, err
	}
	if len(message) == len([16]byte{}) {
		c.Message = id.FromBytes[id.Message]([16]byte(message))
	}
	c.At, c.ExpiresAt = timeOf(at), timeOf(expires)
	return c, nil
}
