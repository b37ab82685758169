// Package follow reports what happens in mailboxes as it happens, for event streams (docs/spec/events.md).
//
// A Follower keeps a position and no queue: what it reports is read from the database when Next is called, so a slow
// client costs no memory and misses nothing. Messages have identifiers that sort in commit order
// (docs/decisions/0001), so one identifier is the position. Changes of messages and mailboxes are rows with times,
// which are not committed in their order: a Follower reads those of the last half minute each time and remembers which
// it has reported.
//
// A Follower waits by package wake and holds no connection of the database meanwhile. It ends with the mailbox, with
// the credential (message.Bond) or with the process; the last event says why. The caller writes the stream and bounds
// how many there are.
package follow

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wake"
)

// Kind names what happened. The values are public: they are the names of events in a stream.
type Kind string

// The kinds of events, by their names in a stream.
const (
	Message Kind = "message" // a message arrived
	Seen    Kind = "seen"    // a message was marked as read or unread
	Deleted Kind = "deleted" // a message was deleted
	Mailbox Kind = "mailbox" // a mailbox was extended
	End     Kind = "end"     // nothing follows
)

// Reason names why a stream ends. The values are public.
type Reason string

// The reasons.
const (
	Expired   Reason = "expired"   // the mailbox has expired
	Destroyed Reason = "destroyed" // the mailbox was destroyed, or the credential was revoked or has expired
	Shutdown  Reason = "shutdown"  // the process stops: another call continues
)

// Event is something that happened.
type Event struct {
	Kind      Kind
	Mailbox   id.Mailbox
	Message   id.Message       // of Message, Seen and Deleted
	Summary   *message.Summary // of Message
	Seen      bool             // of Seen and Deleted: whether the message is or was read
	ExpiresAt time.Time        // of Mailbox
	Reason    Reason           // of End
}

// Parts are the dependencies of a Service.
type Parts struct {
	Clock     clock.Clock
	Wake      *wake.Hub
	Mailboxes *mailbox.Service
	Messages  Messages
}

// Messages reads messages, as message.Service does.
type Messages interface {
	Newer(ctx context.Context, boxes []id.Mailbox, after, last id.Message, max, octets int) ([]message.Summary, error)
}

// Service makes Followers. It is safe for concurrent use.
type Service struct {
	Parts
	stacks wake.Stacks
}

// New returns a Service. It starts no goroutine.
func New(p Parts) *Service { return &Service{Parts: p, stacks: wake.NewStacks()} }

// Follower reports the events of one mailbox or of all mailboxes of an account, in the order in which they happened. It belongs
// to one goroutine.
type Follower struct {
	s       *Service
	box     *mailbox.Mailbox // nil: of account
	account id.Account
	bond    message.Bond
	after   id.Message             // the last message that was reported, or the position to begin at
	since   time.Time              // changes made before were reported or are not asked for
	known   map[id.Event]time.Time // changes after since that are not to be reported, by when they were made
}

// OfMailbox returns a Follower of what happens in a mailbox from now on, and of the messages after a given one unless that is
// "". It ends with the mailbox, and when the bond fails.
func (s *Service) OfMailbox(ctx context.Context, m *mailbox.Mailbox, after id.Message, bond message.Bond) (*Follower, error) {
	f := &Follower{s: s, box: m, bond: bond, after: after}
	now, err := s.Mailboxes.Get(ctx, m.ID) // the newest message may have come after m was read
	if err == nil && now != nil && after == "" {
		f.after = position(now.LastMessageAt())
	}
	if err != nil {
		return nil, err
	}
	return f, f.skipChanges(ctx)
}

// OfAccount is OfMailbox for all mailboxes of an account, also those that are created later. It outlives them, and ends when the
// bond fails.
func (s *Service) OfAccount(ctx context.Context, account id.Account, after id.Message, bond message.Bond) (*Follower, error) {
	f := &Follower{s: s, account: account, bond: bond, after: after}
	if after == "" {
		last, err := s.Mailboxes.NewestOf(ctx, account)
		if err != nil {
			return nil, err
		}
		f.after = position(last)
	}
	return f, f.skipChanges(ctx)
}

// position returns the identifier that those of later messages sort after.
func position(last time.Time) id.Message {
	if last.IsZero() {
		return ""
	}
	return id.Last[id.Message](last)
}

// skipChanges begins after the changes that are visible now: it marks them as reported.
func (f *Follower) skipChanges(ctx context.Context) error {
	f.since, f.known = f.s.Clock.Now().Add(-mailbox.ChangesOverlap), make(map[id.Event]time.Time)
	return f.eachChange(ctx, func(c mailbox.Change) bool {
		f.known[c.ID] = c.At
		return true
	})
}

// eachChange calls found for the changes since f.since, until it returns false.
func (f *Follower) eachChange(ctx context.Context, found func(mailbox.Change) bool) error {
	if f.box != nil {
		return f.s.Mailboxes.Changes(ctx, f.box.ID, f.since, found)
	}
	return f.s.Mailboxes.AccountChanges(ctx, f.account, f.since, found)
}

const (
	// checkEvery is how often a bond is checked without a wake-up: a command that disables an account is a process of its own.
	checkEvery = 5 * time.Second

	eventsMax = 50       // events that Next returns at once
	octetsMax = 64 << 10 // of their summaries as JSON
)

// Next returns the next events, at most 50 of them. It waits until there is one, at most for the duration most, and
// then returns none, so that the caller can keep the connection alive. The last event is an End; Next must not be
// called after it. An error is one of the database, or of ctx.
func (f *Follower) Next(ctx context.Context, most time.Duration) ([]Event, error) {
	key, again := mailbox.AccountWakeKey(f.account), time.Duration(0)
	if f.box != nil {
		key = mailbox.WakeKey(f.box.ID)
		most = max(min(most, f.box.TTL(f.s.Clock.Now())), time.Millisecond) // a wait of 0 would not wait at all
	}
	if f.bond.Check != nil {
		again = checkEvery
	}
	events, err := wake.UntilEither(ctx, f.s.Wake, key, f.bond.WakeKey, most, again, func(ctx context.Context) ([]Event, bool, error) {
		return wake.OnFreshStack(ctx, f.s.stacks, func() ([]Event, bool, error) {
			events, err := f.read(ctx)
			return events, len(events) > 0, err
		})
	})
	if err == nil && len(events) == 0 && f.s.Wake.Closed() {
		return []Event{{Kind: End, Reason: Shutdown}}, nil
	}
	return events, err
}

// read returns the events since the last read. Messages come first: a message is reported before it is changed.
func (f *Follower) read(ctx context.Context) (events []Event, err error) {
	if f.bond.Check != nil {
		if err := f.bond.Check(ctx); err != nil {
			return ended(err)
		}
	}
	messages, live, err := f.messages(ctx)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		m := &messages[i]
		events = append(events, Event{Kind: Message, Mailbox: m.MailboxID, Message: m.ID, Summary: m})
		f.after = m.ID
	}
	if len(events) > 0 {
		return events, nil
	}
	if events, err = f.changes(ctx); err != nil || len(events) > 0 || live {
		return events, err
	}
	return []Event{{Kind: End, Mailbox: f.box.ID, Reason: f.reason()}}, nil
}

// ended returns the end of a stream whose bond failed with a problem.
func ended(err error) ([]Event, error) {
	p, known := problem.From(err)
	switch {
	case !known:
		return nil, err
	case p.Code == problem.MailboxExpired:
		return []Event{{Kind: End, Reason: Expired}}, nil
	}
	return []Event{{Kind: End, Reason: Destroyed}}, nil
}

// messages returns the messages after f.after. live is false if the mailbox has ended.
//
// The mailboxes are read first, then their messages up to the newest that the first read has seen. A message that is committed
// between the two reads is left to the next one: it may come after another in a mailbox that the first read has not found, and f.after
// would pass over that one.
func (f *Follower) messages(ctx context.Context) (all []message.Summary, live bool, err error) {
	after := time.Time{}
	if f.after != "" {
		after = id.Time(f.after)
	}
	boxes, newest, live, err := f.received(ctx, after)
	if err != nil || len(boxes) == 0 || live && !newest.After(after) {
		return nil, live, err
	}
	all, err = f.s.Messages.Newer(ctx, boxes, f.after, position(newest), eventsMax, octetsMax)
	return all, live, err
}

// received returns the mailboxes that may have messages later than a time, and the time of the newest of these. live is false if the
// mailbox has ended.
func (f *Follower) received(ctx context.Context, after time.Time) (boxes []id.Mailbox, newest time.Time, live bool, err error) {
	if f.box == nil {
		boxes, newest, err = f.s.Mailboxes.ReceivedAfter(ctx, f.account, after)
		return boxes, newest, true, err
	}
	m, err := f.s.Mailboxes.Get(ctx, f.box.ID)
	if err != nil || m == nil || !f.box.SameTokens(m) {
		return nil, newest, false, err
	}
	f.box = m
	return []id.Mailbox{m.ID}, m.LastMessageAt(), m.Live(f.s.Clock.Now()), nil
}

// changes returns the changes that were not reported yet.
func (f *Follower) changes(ctx context.Context) (events []Event, err error) {
	now := f.s.Clock.Now()
	complete := true
	err = f.eachChange(ctx, func(c mailbox.Change) bool {
		if _, known := f.known[c.ID]; known {
			return true
		}
		if len(events) == eventsMax {
			complete = false
			return false
		}
		f.known[c.ID] = c.At
		e := Event{Kind: Kind(c.Kind), Mailbox: c.Mailbox, Message: c.Message, Seen: c.Seen, ExpiresAt: c.ExpiresAt}
		if c.Kind == mailbox.Extended {
			e.Kind = Mailbox
		}
		events = append(events, e)
		return true
	})
	if err != nil {
		return nil, err
	}
	if complete {
		f.forget(now.Add(-mailbox.ChangesOverlap))
	}
	return events, nil
}

// forget makes the next read begin at a later time, and removes the changes that it will not read again.
func (f *Follower) forget(since time.Time) {
	if !since.After(f.since) {
		return
	}
	f.since = since
	for c, at := range f.known {
		if !at.After(since) {
			delete(f.known, c)
		}
	}
}

// reason returns why the mailbox ended, by its time of expiry.
func (f *Follower) reason() Reason {
	if f.s.Clock.Now().Before(f.box.ExpiresAt) {
		return Destroyed
	}
	return Expired
}
