package allmail

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/search"
)

// entriesMax bounds the messages of an index: the newest ones.
const entriesMax = 200_000

// entry is a message in an index.
type entry struct {
	message id.Message
	box     id.Mailbox
	search.Document
}

// index has the searched texts of an account's messages in memory. Once it is complete it has all of them up to one, and goes on with
// those that the feed reports. An index that is evicted loses its entries at once, also while a call uses it, which begins again with
// another one: otherwise the memory of many calls at a time would not be bounded.
//
// turn is taken before mu. Searches hold mu for reading, and a change of the entries waits for them.
type index struct {
	account id.Account

	// turn has one token, which is held while the index is brought up to date. The fields below belong to its holder.
	turn    chan struct{}
	feed    *follow.Follower // reports what changes; nil: it was not opened yet
	readAt  time.Time        // when the feed was read last
	pending []message.Ref    // those of the messages that the account had at first that are not in the index yet, newest first
	broken  bool             // another index must replace this one, which may have missed a change
	current bool             // the last refresh succeeded

	refreshes atomic.Int64 // that have begun; written by the holder of the turn
	marks     atomic.Int64 // messages that were marked as read or unread, or tagged, since the index was created
	loaded    atomic.Bool  // all messages that the account had at first are in the index; written by the holder of the turn

	usedAt time.Time // guarded by indexes.mu

	// mu guards the fields below.
	mu      sync.RWMutex
	entries []*entry   // by identifier
	octets  int64      // of all entries
	newest  id.Message // an identifier up to which the index has all messages
	evicted bool       // entries stays empty

	joined map[id.Mailbox]time.Time // when the account became a member of each mailbox that was not its own when the index was opened
}

// lacks reports whether the account has become a member of one of the mailboxes since the index was opened, which then has none of their
// older messages.
func (x *index) lacks(holders []mailbox.Holder) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, h := range holders {
		if !h.JoinedAt.IsZero() && !x.joined[h.ID].Equal(h.JoinedAt) {
			return true
		}
	}
	return false
}

// errEvicted says that an index was evicted while it was used.
var errEvicted = errors.New("the index was evicted")

// entryCost is what an entry takes beside its texts, in octets.
const entryCost = 320

func newIndex(account id.Account) *index {
	return &index{account: account, turn: make(chan struct{}, 1)}
}

// evict removes everything from an index for good.
func (x *index) evict() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries, x.octets, x.evicted = nil, 0, true
}

func (x *index) isEvicted() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.evicted
}

// top returns the identifier up to which the index has all messages.
func (x *index) top() id.Message {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.newest
}

// feedMax is how long after a feed was read it can still go on: it reads again what changed in the last half minute.
const feedMax = mailbox.ChangesOverlap

// ready returns the index of an account, complete and with everything that was committed before the call. The first call for an account
// takes as long as reading all of its messages does. If ctx ends meanwhile, the next call goes on.
func (s *Service) ready(ctx context.Context, account id.Account) (*index, error) {
	for x := s.indexes.get(account, s.Clock.Now()); ; x = s.indexes.replace(x) {
		broken, err := s.take(ctx, x)
		if err != nil || !broken {
			return x, err
		}
	}
}

// take brings an index up to date, unless another call has done so since this one began: a mail wakes all waiting calls at once. It reports
// whether the index is broken.
func (s *Service) take(ctx context.Context, x *index) (broken bool, err error) {
	before := x.refreshes.Load()
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if x.current && x.refreshes.Load() > before {
		return false, nil
	}
	x.refreshes.Add(1)
	err = s.refresh(ctx, x)
	x.current = err == nil && !x.broken
	return x.broken && err == nil, err
}

// refresh brings an index up to date, unless it is broken. The caller holds the turn.
func (s *Service) refresh(ctx context.Context, x *index) error {
	if !x.loaded.Load() {
		select {
		case s.loading <- struct{}{}:
			defer func() { <-s.loading }()
		case <-ctx.Done():
			return ctx.Err()
		}
		s.indexes.touch(x, s.Clock.Now())
	}
	if x.feed == nil {
		if err := s.open(ctx, x); err != nil {
			return err
		}
	}
	if x.broken = x.broken || x.isEvicted() || s.Clock.Now().Sub(x.readAt) > feedMax; x.broken {
		return nil
	}
	for len(x.pending) > 0 {
		some := x.pending[:min(len(x.pending), addBatch)]
		if err := s.add(ctx, x, some); err != nil {
			return err
		}
		x.pending = x.pending[len(some):]
		if s.Clock.Now().Sub(x.readAt) > feedMax/2 {
			if err := s.catchUp(ctx, x); err != nil {
				return err
			}
		}
	}
	x.loaded.Store(true)
	return s.catchUp(ctx, x)
}

// addBatch is how many messages are added between two looks at whether the client is still there.
const addBatch = 256

// open opens the feed, and then lists the messages that the account has. The feed reports what happens between the two.
func (s *Service) open(ctx context.Context, x *index) error {
	readAt := s.Clock.Now()
	feed, err := s.Follow.OfAccount(ctx, x.account, "", message.CredentialCheck{})
	if err != nil {
		return err
	}
	holders, err := s.Mailboxes.Holders(ctx, x.account, mailbox.HolderFilter{})
	if err != nil {
		return err
	}
	joined := make(map[id.Mailbox]time.Time)
	if len(holders) > 0 {
		some := make([]message.Holder, len(holders))
		for i, h := range holders {
			some[i] = message.Holder{Box: h.ID, LastAt: h.LastAt}
			if !h.JoinedAt.IsZero() {
				joined[h.ID] = h.JoinedAt
			}
		}
		top := id.Last[id.Message](holders[0].LastAt)
		all, err := s.Messages.Newest(ctx, some, message.Span{Before: top}, entriesMax)
		if err != nil {
			return err
		}
		x.pending = all
		x.mu.Lock()
		x.newest = top
		x.mu.Unlock()
	}
	x.feed, x.readAt = feed, readAt
	x.mu.Lock()
	x.joined = joined
	x.mu.Unlock()
	return nil
}

// catchUp applies what the feed reports. The caller holds the turn.
func (s *Service) catchUp(ctx context.Context, x *index) error {
	reading := context.WithoutCancel(ctx) // the feed does not report again what it has read, so a read must not be abandoned half way
	for {
		readAt := s.Clock.Now()
		events, err := x.feed.Next(reading, 0)
		if err == nil {
			err = s.apply(reading, x, events)
		}
		if err != nil {
			x.broken = true
			return err
		}
		x.readAt = readAt
		if len(events) == 0 || events[0].Kind == follow.End {
			return ctx.Err()
		}
	}
}

// apply applies events. The caller holds the turn.
func (s *Service) apply(ctx context.Context, x *index, events []follow.Event) error {
	var arrived []message.Ref
	for _, e := range events {
		if e.Kind == follow.Message {
			arrived = append(arrived, message.Ref{Box: e.Mailbox, Message: e.Message})
		}
	}
	if err := s.add(ctx, x, arrived); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(arrived) > 0 {
		x.newest = max(x.newest, id.Last[id.Message](id.Time(arrived[len(arrived)-1].Message)))
	}
	deleted := 0
	for _, e := range events {
		at, ok := x.at(e.Message)
		switch {
		case !ok:
		case e.Kind == follow.Seen:
			x.entries[at].Seen = e.Seen
			x.marks.Add(1)
		case e.Kind == follow.Tagged:
			x.octets -= x.entries[at].cost()
			x.entries[at].Tags = e.Tags
			x.octets += x.entries[at].cost()
			x.marks.Add(1)
		case e.Kind == follow.Deleted:
			x.octets -= x.entries[at].cost()
			x.entries[at].Clear()
			x.entries[at].box = "" // no search finds it
			deleted++
		}
	}
	if deleted > 0 {
		x.entries = slices.DeleteFunc(x.entries, func(e *entry) bool { return e.box == "" })
	}
	return nil
}

func (e *entry) cost() int64 { return entryCost + int64(e.Octets()) }

// at returns the position of a message among the entries. The caller holds mu.
func (x *index) at(m id.Message) (at int, ok bool) {
	return slices.BinarySearchFunc(x.entries, m, func(e *entry, m id.Message) int { return cmp.Compare(e.message, m) })
}

// add reads messages and adds them. Those that are in the index already stay as they are. The caller holds the turn.
func (s *Service) add(ctx context.Context, x *index, refs []message.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	var added []*entry
	boxes := make(map[id.Mailbox]id.Mailbox) // so that the entries of a mailbox share its identifier
	err := s.Messages.Searched(ctx, refs, func(r message.Ref, m search.Mail) {
		box, ok := boxes[r.Box]
		if !ok {
			box, boxes[r.Box] = r.Box, r.Box
		}
		added = append(added, &entry{message: r.Message, box: box, Document: search.New(m)})
	})
	if err != nil {
		return err
	}
	slices.SortFunc(added, func(a, b *entry) int { return cmp.Compare(a.message, b.message) })
	x.mu.Lock()
	x.insert(added)
	x.mu.Unlock()
	s.indexes.fit(x, s.IndexMax)
	return nil
}

// insert adds entries, which are sorted. Those that the index has stay as they are. Nearly always they are all before or all after the
// others. The caller holds mu.
func (x *index) insert(added []*entry) {
	added = slices.DeleteFunc(added, func(e *entry) bool { _, ok := x.at(e.message); return ok })
	if len(added) == 0 || x.evicted {
		return
	}
	for _, e := range added {
		x.octets += e.cost()
	}
	at, _ := x.at(added[0].message)
	if end, _ := x.at(added[len(added)-1].message); end == at {
		x.entries = slices.Insert(x.entries, at, added...)
	} else {
		x.entries = append(x.entries, added...)
		slices.SortFunc(x.entries, func(a, b *entry) int { return cmp.Compare(a.message, b.message) })
	}
	for len(x.entries) > entriesMax {
		x.octets -= x.entries[0].cost()
		x.entries[0] = nil
		x.entries = x.entries[1:]
	}
}

// findBatch is how many entries are looked at between two looks at whether the client is still there and the page is complete.
const findBatch = 1 << 15

// find returns the messages in some mailboxes, between two identifiers, that a search finds: the first max, newest first. Error: errEvicted.
func (x *index) find(ctx context.Context, q *search.Query, boxes map[id.Mailbox]bool, after, before id.Message, max int) (refs []message.Ref, err error) {
	err = x.each(ctx, q, boxes, after, before, func(e *entry) bool {
		refs = append(refs, message.Ref{Box: e.box, Message: e.message})
		return len(refs) < max
	})
	return refs, err
}

// count counts the messages in some mailboxes, up to an identifier, that a search finds. Error: errEvicted.
func (x *index) count(ctx context.Context, q *search.Query, boxes map[id.Mailbox]bool, before id.Message) (c Count, err error) {
	err = x.each(ctx, q, boxes, "", before, func(e *entry) bool {
		c.Messages++
		if !e.Seen {
			c.Unread++
		}
		return true
	})
	return c, err
}

// each calls fn with the messages in some mailboxes, between two identifiers, that a search finds, newest first, until fn returns false.
// Error: errEvicted.
func (x *index) each(ctx context.Context, q *search.Query, boxes map[id.Mailbox]bool, after, before id.Message, fn func(*entry) bool) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.evicted {
		return errEvicted
	}
	end, _ := x.at(before)
	begin, ok := x.at(after)
	if ok {
		begin++
	}
	for end > begin {
		from := end - min(end-begin, findBatch)
		part := x.entries[from:end]
		found := q.Select(ctx, len(part), func(i int) *search.Document {
			if !boxes[part[i].box] {
				return nil
			}
			return &part[i].Document
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, i := range slices.Backward(found) {
			if !fn(part[i]) {
				return nil
			}
		}
		end = from
	}
	return nil
}

// refs returns those of some messages that the index has. Error: errEvicted.
func (x *index) refs(messages []id.Message) (refs []message.Ref, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.evicted {
		return nil, errEvicted
	}
	for _, m := range messages {
		if at, ok := x.at(m); ok {
			refs = append(refs, message.Ref{Box: x.entries[at].box, Message: m})
		}
	}
	return refs, nil
}

// shrink removes the texts of the oldest messages, and then their other texts, until the index has at most max octets, and then the oldest
// messages themselves.
func (x *index) shrink(max int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := 0; x.octets > max && i < len(x.entries); i++ {
		x.octets -= int64(x.entries[i].DropText())
	}
	for i := 0; x.octets > max && i < len(x.entries); i++ {
		x.octets -= int64(x.entries[i].DropFields())
	}
	for x.octets > max && len(x.entries) > 0 {
		x.octets -= x.entries[0].cost()
		x.entries[0] = nil
		x.entries = x.entries[1:]
	}
}

// size returns how many octets the index takes.
func (x *index) size() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.octets
}
