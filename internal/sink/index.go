package sink

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
)

// entry is a mail in the index, with its texts in lower case.
type entry struct {
	id     id.SinkMail
	number int64
	at     int64 // microseconds since 1970
	size   int64
	seen   bool
	gone   bool
	files  bool // has attachments
	inline bool // has inline parts

	// all is what a word is looked for in, and the fields are parts of it: one search of one piece of memory takes a fraction of
	// what seven take. It has no text where the index has too much.
	all                                            string
	from, to, cc, bcc, replyTo, subject, messageID string
}

// index holds in memory what is searched, so that a search in 100,000 mails takes milliseconds whatever it looks for.
// Before each use it reads what has changed since, so that every process sees what any process has committed. It is
// bounded by entriesMax and textTotal.
//
// The order of locking is reading, then mu. Searches hold mu for reading only, so they run at the same time; a change
// of the index waits for them.
type index struct {
	// reading is held while changes are read and applied, so that concurrent searches read them once.
	reading sync.Mutex // held while changes are read

	// mu guards the fields below, for writing while changes are applied.
	mu      sync.RWMutex
	loaded  bool
	last    int64    // the last change that it has
	entries []*entry // in the order of arrival
	byID    map[id.SinkMail]*entry
	dead    int // entries that are gone
	unread  int
	text    int // octets
}

// refresh brings the index up to date. Reading all is needed at the first use, and if rows of deleted mails were
// removed before this process has read them.
func (s *Service) refresh(ctx context.Context) error {
	x := &s.index
	x.reading.Lock()
	defer x.reading.Unlock()
	ctx = db.Background(ctx) // reading all takes longer than other reads
	changes, forgotten, err := readState(ctx, s.db)
	if err != nil {
		return err
	}
	if !x.loaded || x.last < forgotten {
		return s.load(ctx, changes)
	}
	if changes == x.last {
		return nil
	}
	var changed []*row
	if err := forEachRow(ctx, s.db, func(v *row) { changed = append(changed, v) }, selectChanged, x.last); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range changed {
		x.apply(v)
	}
	x.bound()
	return nil
}

// load reads everything. Changes after the given one may be among it, and are read again. The new index replaces the
// old one only when it is complete. An error leaves the old one.
func (s *Service) load(ctx context.Context, changes int64) error {
	var entries []*entry
	err := forEachRow(ctx, s.db, func(v *row) { entries = append(entries, newEntry(v)) }, selectAll, entriesMax)
	if err != nil {
		return err
	}
	slices.Reverse(entries)
	x := &s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded, x.last, x.entries, x.byID = true, changes, entries, make(map[id.SinkMail]*entry, len(entries))
	x.dead, x.unread, x.text = 0, 0, 0
	for _, e := range entries {
		x.byID[e.id] = e
		x.text += len(e.all)
		if !e.seen {
			x.unread++
		}
	}
	x.bound()
	return nil
}

// apply applies a changed row. The caller holds mu. A mail that the index does not have and that is gone came and went
// since the last refresh.
func (x *index) apply(v *row) {
	x.last = max(x.last, v.change)
	e := x.byID[v.ID]
	switch {
	case e == nil && v.deleted:
	case e == nil:
		e = newEntry(v)
		x.byID[e.id] = e
		x.text += len(e.all)
		if !e.seen {
			x.unread++
		}
		at, _ := slices.BinarySearchFunc(x.entries, e.number, func(e *entry, n int64) int { return int(e.number - n) })
		x.entries = slices.Insert(x.entries, at, e) // nearly always at the end
	case v.deleted:
		x.remove(e)
	case e.seen != v.Seen:
		e.seen = v.Seen
		if x.unread++; e.seen {
			x.unread -= 2
		}
	}
}

// remove marks an entry as gone. The caller holds mu. It stays in entries until bound removes many at once, since
// removing one moves all that follow.
func (x *index) remove(e *entry) {
	delete(x.byID, e.id)
	x.text -= len(e.all)
	e.gone, e.all = true, ""
	x.dead++
	if !e.seen {
		x.unread--
	}
}

// bound drops the oldest entries beyond entriesMax, texts beyond textTotal, and entries that are gone where they are many. The
// caller holds mu.
func (x *index) bound() {
	for i := 0; len(x.byID) > entriesMax; i++ {
		if !x.entries[i].gone {
			x.remove(x.entries[i])
		}
	}
	for i := 0; x.text > textTotal && i < len(x.entries); i++ {
		x.text -= x.entries[i].shorten()
	}
	if x.dead > 64 && x.dead > len(x.entries)/4 {
		x.entries = slices.DeleteFunc(x.entries, func(e *entry) bool { return e.gone })
		x.dead = 0
	}
}

// newEntry returns the entry of a row that is not gone.
func newEntry(v *row) *entry {
	e := &entry{
		id: v.ID, number: v.Number, at: v.ReceivedAt.UnixMicro(), size: v.Size, seen: v.Seen, files: v.Attachments > 0, inline: v.Inline > 0,
		messageID: strings.ToLower(v.MessageID),
	}
	e.set(strings.ToLower(v.Subject), names(v.From), names(v.To...), names(v.CC...), names(v.BCC...), names(v.ReplyTo...), strings.ToLower(v.searchedText))
	return e
}

// set sets all to the parts, joined by line feeds, and the fields to parts of it, which share its memory. A word cannot
// match across two parts, since a query has no line feed.
func (e *entry) set(subject, from, to, cc, bcc, replyTo, text string) {
	parts := []string{subject, from, to, cc, bcc, replyTo, text}
	e.all = strings.Join(parts, "\n")
	at := 0
	for i, f := range []*string{&e.subject, &e.from, &e.to, &e.cc, &e.bcc, &e.replyTo} {
		*f = e.all[at : at+len(parts[i])]
		at += len(parts[i]) + 1
	}
}

// shorten drops the text and returns how many octets that frees. The strings are joined anew, so that the old piece of
// memory with the text can be collected.
func (e *entry) shorten() int {
	before := len(e.all)
	if e.gone {
		return 0
	}
	e.set(strings.Clone(e.subject), e.from, e.to, e.cc, e.bcc, e.replyTo, "")
	return before - len(e.all)
}

// KeepUp keeps the index up to date until ctx ends, so that the first search after a start, or after much mail, need
// not read it all. A failed refresh is tried again with the next one. It runs on a goroutine of the caller.
func (s *Service) KeepUp(ctx context.Context) {
	for {
		_ = s.refresh(ctx) // a search that needs it reports the error
		timer := clock.System().NewTimer(keepUpEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// keepUpEvery is how often KeepUp looks for changes.
const keepUpEvery = time.Second

// names returns addresses as they are searched. Each is on a line of its own: the name, and the address in angle
// brackets, all in lower case.
func names(all ...message.Address) string {
	var b strings.Builder
	for _, a := range all {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if a.Name != "" {
			b.WriteString(a.Name + " ")
		}
		b.WriteString("<" + a.Address + ">")
	}
	return strings.ToLower(b.String())
}
