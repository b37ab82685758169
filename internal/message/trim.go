package message

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Kept bounds the messages that a mailbox keeps: the newest ones, except that no client's messages push out those of others.
type Kept struct {
	Messages int
	Octets   int64 // of all messages together, as received
	For      time.Duration
}

// newest returns how many of the messages, which are in the order of their age, the newest first, would be kept if all were of one client.
func (k Kept) newest(all []aged, now time.Time) (n int) {
	oldest := now.Add(-k.For).UnixMicro()
	var octets int64
	for ; n < len(all) && n < k.Messages && all[n].at > oldest; n++ {
		if octets += all[n].size; octets > k.Octets {
			break
		}
	}
	return n
}

// excess returns the messages that are not kept, of messages in the order of their age, the newest first: those that are too old, and while
// there are too many or they are too large together, the oldest one of the client with the most messages or octets.
func (k Kept) excess(all []aged, now time.Time) (erased []aged) {
	young := len(all)
	for oldest := now.Add(-k.For).UnixMicro(); young > 0 && all[young-1].at <= oldest; {
		young--
	}
	erased = slices.Clone(all[young:])
	usage, octets := make(map[string]*share), int64(0)
	for _, m := range all[:young] {
		u := usage[m.client]
		if u == nil {
			u = &share{}
			usage[m.client] = u
		}
		u.messages, u.octets = append(u.messages, m), u.octets+m.size
		octets += m.size
	}
	for left := young; left > k.Messages || octets > k.Octets; left-- {
		byOctets := left <= k.Messages
		var most *share
		for _, u := range usage {
			if most == nil || u.isMore(most, byOctets) {
				most = u
			}
		}
		last := len(most.messages) - 1
		m := most.messages[last]
		most.messages, most.octets = most.messages[:last], most.octets-m.size
		octets -= m.size
		erased = append(erased, m)
	}
	return erased
}

// share is what one client has of the messages, in the order of their age, the newest first.
type share struct {
	messages []aged
	octets   int64
}

// isMore reports whether a share is more than another one, by octets or by messages. Of equal ones the one with the older message is.
func (u *share) isMore(other *share, byOctets bool) bool {
	a, b := int64(len(u.messages)), int64(len(other.messages))
	if byOctets {
		a, b = u.octets, other.octets
	}
	if a != b || len(u.messages) == 0 || len(other.messages) == 0 {
		return a > b
	}
	return u.messages[len(u.messages)-1].message < other.messages[len(other.messages)-1].message
}

// trimBatch is how many messages are erased in one transaction.
const trimBatch = 100

// Trim erases the messages of a mailbox that are not to be kept.
func (s *Service) Trim(ctx context.Context, box id.Mailbox, k Kept) error {
	all, err := db.Collect(ctx, s.db, scanAged, selectAged, box)
	if err != nil {
		return fmt.Errorf("list what to erase of %s: %w", box, err)
	}
	if k.newest(all, s.clock.Now()) == len(all) {
		return nil
	}
	if all, err = db.Collect(ctx, s.db, scanAgedClient, selectAgedClient, box); err != nil {
		return fmt.Errorf("list what to erase of %s: %w", box, err)
	}
	old := k.excess(all, s.clock.Now())
	slices.SortFunc(old, func(a, b aged) int { return cmp.Compare(a.message, b.message) }) // the oldest first
	for some := range slices.Chunk(old, trimBatch) {
		refs := make([]Ref, len(some))
		for i, m := range some {
			refs[i] = Ref{Box: box, Message: m.message}
		}
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.DeleteManyTx(ctx, tx, refs) })
		if err != nil {
			return err
		}
	}
	return nil
}

// aged is a message that Trim considers.
type aged struct {
	message id.Message
	at      int64 // when it was received, in microseconds since 1970
	size    int64 // in octets, as received
	client  string
}

func scanAged(row db.Row) (m aged, err error) {
	err = row.Scan(&m.message, &m.at, &m.size)
	return m, err
}

// scanAgedClient reads selectAgedClient.
func scanAgedClient(row db.Row) (m aged, err error) {
	var text string
	if err := row.Scan(&m.message, &m.at, &m.size, &text); err != nil {
		return m, err
	}
	var stored internal
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return m, fmt.Errorf("decode what is stored of %s: %w", m.message, err)
	}
	m.client = stored.Client
	return m, nil
}

// DeleteAudited is Delete that also records the change in the audit log. Error: message.not_found.
func (s *Service) DeleteAudited(ctx context.Context, box id.Mailbox, m id.Message) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.removeTx(ctx, tx, box, m); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, s.clock.Now(), "message.delete", string(m), "")
	})
}
