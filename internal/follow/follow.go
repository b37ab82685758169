// Package follow reports events of mailboxes as they happen, for event streams (docs/spec/events.md).
//
// A Follower has a position in the events but no queue. Next reads the events after the position from the database, so
// that a slow client costs no memory and misses nothing. The identifiers of messages sort in commit order
// (docs/decisions/0001), so that the position among messages is the identifier of the last one. Changes of messages and
// mailboxes are rows with a time, but they are not committed in the order of their times. A Follower therefore reads
// all changes of the last half minute each time and remembers which of them it has reported.
//
// A Follower waits with package wake and uses no database connection while it waits. It ends when the mailbox ends,
// when the client's credential (message.CredentialCheck) is no longer valid, or when the process shuts down; the last event
// contains the reason. The caller writes the stream and limits the number of streams.
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

// Kind is the kind of an event. The values are public: they are the event names in a stream.
type Kind string

// The kinds of events.
const (
	Message Kind = "message" // a message arrived
	Seen    Kind = "seen"    // a message was marked as read or unread
	Deleted Kind = "deleted" // a message was deleted
	Tagged  Kind = "tagged"  // a message got other tags
	Mailbox Kind = "mailbox" // a mailbox was extended
	End     Kind = "end"     // the stream ends; this is its last event
)

// Reason is why a stream ends. The values are public.
type Reason string

// The reasons.
const (
	Expired   Reason = "expired"   // the mailbox has expired
	Destroyed Reason = "destroyed" // the mailbox was destroyed, or the credential was revoked or has expired
	Shutdown  Reason = "shutdown"  // the process shuts down; the client may reconnect
)

// Event is an event of a mailbox. Which fields are set depends on Kind.
type Event struct {
	Kind      Kind
	Mailbox   id.Mailbox
	Message   id.Message       // for Message, Seen, Deleted and Tagged
	Summary   *message.Summary // for Message
	Seen      bool             // for Seen and Deleted: whether the message is, or was, marked as read
	Tags      []string         // for Tagged: the tags that the message has now
	ExpiresAt time.Time        // for Mailbox: the new expiry
	Reason    Reason           // for End
}

// Parts are the dependencies of a Service.
type Parts struct {
	Clock     clock.Clock
	Wake      *wake.Hub
	Mailboxes *mailbox.Service
	Messages  Messages
}

// Messages reads messages. message.Service implements it.
type Messages interface {
	Newer(ctx context.Context, boxes []id.Mailbox, after, last id.Message, max, octets int) ([]message.Summary, error)
	Tags(ctx context.Context, refs []message.Ref) (map[id.Message][]string, error)
}

// Service creates Followers. It is safe for concurrent use.
type Service struct {
	Parts
	stacks wake.Stacks
}

// New returns a Service. It starts no goroutine.
func New(p Parts) *Service { return &Service{Parts: p, stacks: wake.NewStacks()} }

// Follower reports the events of one mailbox, or of all mailboxes of an account, in the order in which they happened. It
// is not safe for concurrent use.
type Follower struct {
	s          *Service
	box        *mailbox.Mailbox // nil if the Follower is one of an account
	account    id.Account       // empty if the Follower is one of a mailbox
	credential message.CredentialCheck

	after    id.Message             // the last message that was reported, or the position to begin at
	since    time.Time              // changes up to this time are not read any more
	reported map[id.Event]time.Time // changes after since that must not be reported (again), with their times
}

// OfMailbox returns a Follower of a mailbox. It reports the events from now on and, unless after is "", all messages
// after that one. It ends when the mailbox ends or the check of the credential fails.
func (s *Service) OfMailbox(ctx context.Context, m *mailbox.Mailbox, after id.Message, credential message.CredentialCheck) (*Follower, error) {
	f := &Follower{s: s, box: m, credential: credential, after: after}
	now, err := s.Mailboxes.Get(ctx, m.ID) // read m again, since a message may have arrived after the caller has read it
	if err == nil && now != nil && after == "" {
		f.after = position(now.LastMessageAt())
	}
	if err != nil {
		return nil, err
	}
	return f, f.skipChanges(ctx)
}

// OfAccount is like OfMailbox for all mailboxes of an account, including those that are created later. The Follower does
// not end with a mailbox, only when the check of the credential fails.
func (s *Service) OfAccount(ctx context.Context, account id.Account, after id.Message, credential message.CredentialCheck) (*Follower, error) {
	f := &Follower{s: s, account: account, credential: credential, after: after}
	if after == "" {
		last, err := s.Mailboxes.NewestOf(ctx, account)
		if err != nil {
			return nil, err
		}
		f.after = position(last)
	}
	return f, f.skipChanges(ctx)
}

// position returns an identifier that sorts before those of all messages later than last, and after those of all
// others. It is "" if last is zero.
func position(last time.Time) id.Message {
	if last.IsZero() {
		return ""
	}
	return id.Last[id.Message](last)
}

// skipChanges marks all changes that are visible now as reported, so that the Follower begins after them.
func (f *Follower) skipChanges(ctx context.Context) error {
	f.since, f.reported = f.s.Clock.Now().Add(-mailbox.ChangesOverlap), make(map[id.Event]time.Time)
	return f.eachChange(ctx, func(c mailbox.Change) bool {
		f.reported[c.ID] = c.At
		return true
	})
}

// eachChange calls found with each change since f.since until found returns false.
func (f *Follower) eachChange(ctx context.Context, found func(mailbox.Change) bool) error {
	if f.box != nil {
		return f.s.Mailboxes.Changes(ctx, f.box.ID, f.since, found)
	}
	return f.s.Mailboxes.AccountChanges(ctx, f.account, f.since, found)
}

const (
	// checkEvery is how often the credential is checked without a wake-up. The command that disables an account runs in a
	// process of its own and cannot wake the followers of the server.
	checkEvery = 5 * time.Second

	eventsMax  = 50       // messages, or messages with other tags, that one call of Next returns
	octetsMax  = 64 << 10 // octets of their summaries as JSON
	changesMax = 500      // changes that one call of Next returns: each call reads those of the last half minute again
)

// Next returns the next events, at most eventsMax messages or changesMax changes. It blocks until there is an event or wait has passed. In the latter
// case it returns no events, so that the caller can send a keepalive. The last event is an End; Next must not be called
// after it. An error is one of the database, or of ctx.
func (f *Follower) Next(ctx context.Context, wait time.Duration) ([]Event, error) {
	key, pollEvery := mailbox.AccountWakeKey(f.account), time.Duration(0)
	if f.box != nil {
		key = mailbox.WakeKey(f.box.ID)
		wait = max(min(wait, f.box.TTL(f.s.Clock.Now())), time.Millisecond) // at least 1 ms, since UntilEither reads only once if wait is 0
	}
	if f.credential.Check != nil {
		pollEvery = checkEvery
	}
	events, err := wake.UntilEither(ctx, f.s.Wake, key, f.credential.WakeKey, wait, pollEvery, func(ctx context.Context) ([]Event, bool, error) {
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

// read returns the events since the last read. The credential is checked after it, so that no client receives what came when its
// credential had ended.
func (f *Follower) read(ctx context.Context) ([]Event, error) {
	events, err := f.news(ctx)
	if err != nil || f.credential.Check == nil {
		return events, err
	}
	if err := f.credential.Check(ctx); err != nil {
		return ended(err)
	}
	return events, nil
}

// news returns the events since the last read. It reads changes only if there are no new messages, so that a message is
// reported before its changes.
func (f *Follower) news(ctx context.Context) (events []Event, err error) {
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

// ended returns the End event for a failed check of the credential. An err that is not a problem, such as one of the
// database, is returned as it is.
func ended(err error) ([]Event, error) {
	p, ok := problem.From(err)
	switch {
	case !ok:
		return nil, err
	case p.Code == problem.MailboxExpired:
		return []Event{{Kind: End, Reason: Expired}}, nil
	}
	return []Event{{Kind: End, Reason: Destroyed}}, nil
}

// messages returns the messages after f.after. live is false if the mailbox has ended.
//
// It first reads which mailboxes have new messages and the time of the newest one, and then their messages up to that
// time. A message that is committed between the two reads is left to the next call. If it were returned, f.after would
// advance past an earlier message in another mailbox that had none at the first read, and that message would be lost.
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

// received returns the mailboxes that may have messages later than after, and the time of the newest message. live is
// false if the mailbox has ended.
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

// changes returns at most changesMax changes that were not reported yet and marks them as reported.
func (f *Follower) changes(ctx context.Context) (events []Event, err error) {
	now := f.s.Clock.Now()
	complete, tagged := true, 0
	err = f.eachChange(ctx, func(c mailbox.Change) bool {
		if _, reported := f.reported[c.ID]; reported {
			return true
		}
		if len(events) == changesMax || tagged == eventsMax {
			complete = false
			return false
		}
		f.reported[c.ID] = c.At
		e := Event{Kind: Kind(c.Kind), Mailbox: c.Mailbox, Message: c.Message, Seen: c.Seen, ExpiresAt: c.ExpiresAt}
		switch c.Kind {
		case mailbox.Extended:
			e.Kind = Mailbox
		case mailbox.Tagged:
			tagged++
		}
		events = append(events, e)
		return true
	})
	if err != nil {
		return nil, err
	}
	if err := f.addTags(ctx, events); err != nil {
		return nil, err
	}
	if complete {
		f.forget(now.Add(-mailbox.ChangesOverlap))
	}
	return events, nil
}

// addTags sets the tags of the events that report some. A change is stored without them, since they are a part of the mail.
func (f *Follower) addTags(ctx context.Context, events []Event) error {
	var tagged []message.Ref
	for _, e := range events {
		if e.Kind == Tagged {
			tagged = append(tagged, message.Ref{Box: e.Mailbox, Message: e.Message})
		}
	}
	if len(tagged) == 0 {
		return nil
	}
	tags, err := f.s.Messages.Tags(ctx, tagged)
	if err != nil {
		return err
	}
	for i := range events {
		if events[i].Kind == Tagged {
			events[i].Tags = tags[events[i].Message]
		}
	}
	return nil
}

// forget makes the next read begin at since and removes the changes up to that time from f.reported, because they are
// not read again.
func (f *Follower) forget(since time.Time) {
	if !since.After(f.since) {
		return
	}
	f.since = since
	for c, at := range f.reported {
		if !at.After(since) {
			delete(f.reported, c)
		}
	}
}

// reason returns why the mailbox ended: a mailbox that ends before its time of expiry was destroyed.
func (f *Follower) reason() Reason {
	if f.s.Clock.Now().Before(f.box.ExpiresAt) {
		return Destroyed
	}
	return Expired
}
