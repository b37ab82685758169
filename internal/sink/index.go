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

// entry is a mail in the index. Its texts are in lower case. A deleted entry stays in index.entries for a while and must
// be skipped.
type entry struct {
	id     id.SinkMail
	number int64

	receivedAt     int64 // microseconds since 1970
	size           int64 // octets of the raw message
	seen           bool
	deleted        bool
	hasAttachments bool
	hasInline      bool

	// searchText joins all texts of the mail, and the fields below are substrings of it that share its memory: searching
	// one string takes a fraction of the time of searching seven. The message text is missing from it in the oldest
	// mails once the index exceeds textTotal. messageID is not a part of it.
	searchText                                     string
	from, to, cc, bcc, replyTo, subject, messageID string
}

// index holds the searched texts in memory, so that a search in 100,000 mails takes milliseconds whatever the query.
// Before each use it reads the changes since the previous use, so that every process sees what any process has
// committed. Its size is bounded by entriesMax and textTotal.
//
// refreshMu is locked before mu. Searches hold mu for reading only, so they run concurrently; a change of the index
// waits for them.
type index struct {
	// refreshMu is held while changes are read and applied, so that concurrent searches read them once.
	refreshMu sync.Mutex

	// mu guards the fields below. It is held for writing while changes are applied.
	mu           sync.RWMutex
	loaded       bool
	lastChange   int64                  // the number of the last change applied
	entries      []*entry               // in the order of arrival, some of them deleted
	byID         map[id.SinkMail]*entry // entries that are not deleted
	deletedCount int                    // deleted entries in entries
	unread       int                    // entries in byID that are not seen
	textSize     int                    // octets of all searchTexts
}

// refresh brings the index up to date. It loads the whole index at the first use, and also if Sweep has removed rows of
// deleted mails that this process had not read yet.
func (s *Service) refresh(ctx context.Context) error {
	x := &s.index
	x.refreshMu.Lock()
	defer x.refreshMu.Unlock()
	ctx = db.Background(ctx) // loading everything takes longer than other reads
	lastChange, sweptUpTo, err := readState(ctx, s.db)
	if err != nil {
		return err
	}
	if !x.loaded || x.lastChange < sweptUpTo {
		return s.load(ctx, lastChange)
	}
	if lastChange == x.lastChange {
		return nil
	}
	var changed []*row
	if err := forEachRow(ctx, s.db, func(v *row) { changed = append(changed, v) }, selectChanged, x.lastChange); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range changed {
		x.apply(v)
	}
	x.enforceLimits()
	return nil
}

// load reads the newest entriesMax mails and replaces the index with them. lastChange is the last change that the rows
// are known to include. If they include later ones, the next refresh reads those again. After an error the old index
// is unchanged. The caller holds refreshMu.
func (s *Service) load(ctx context.Context, lastChange int64) error {
	var entries []*entry
	err := forEachRow(ctx, s.db, func(v *row) { entries = append(entries, newEntry(v)) }, selectAll, entriesMax)
	if err != nil {
		return err
	}
	slices.Reverse(entries)
	x := &s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded, x.lastChange, x.entries, x.byID = true, lastChange, entries, make(map[id.SinkMail]*entry, len(entries))
	x.deletedCount, x.unread, x.textSize = 0, 0, 0
	for _, e := range entries {
		x.byID[e.id] = e
		x.textSize += len(e.searchText)
		if !e.seen {
			x.unread++
		}
	}
	x.enforceLimits()
	return nil
}

// apply applies a changed row. A deleted mail that is not in the index has arrived and been deleted since the last
// refresh, and is ignored. The caller holds mu for writing.
func (x *index) apply(v *row) {
	x.lastChange = max(x.lastChange, v.change)
	e := x.byID[v.ID]
	switch {
	case e == nil && v.deleted:
	case e == nil:
		e = newEntry(v)
		x.byID[e.id] = e
		x.textSize += len(e.searchText)
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

// remove marks an entry as deleted. The entry stays in entries until enforceLimits removes many at once, since removing
// a single one moves all that follow. The caller holds mu for writing.
func (x *index) remove(e *entry) {
	delete(x.byID, e.id)
	x.textSize -= len(e.searchText)
	e.deleted, e.searchText = true, ""
	x.deletedCount++
	if !e.seen {
		x.unread--
	}
}

// enforceLimits removes the oldest entries beyond entriesMax, drops the oldest message texts beyond textTotal, and
// removes deleted entries from entries if they are more than 64 and more than a quarter. The caller holds mu for
// writing.
func (x *index) enforceLimits() {
	for i := 0; len(x.byID) > entriesMax; i++ {
		if !x.entries[i].deleted {
			x.remove(x.entries[i])
		}
	}
	for i := 0; x.textSize > textTotal && i < len(x.entries); i++ {
		x.textSize -= x.entries[i].dropText()
	}
	if x.deletedCount > 64 && x.deletedCount > len(x.entries)/4 {
		x.entries = slices.DeleteFunc(x.entries, func(e *entry) bool { return e.deleted })
		x.deletedCount = 0
	}
}

// newEntry returns the entry of a row whose mail is not deleted.
func newEntry(v *row) *entry {
	e := &entry{
		id: v.ID, number: v.Number, receivedAt: v.ReceivedAt.UnixMicro(), size: v.Size, seen: v.Seen,
		hasAttachments: v.Attachments > 0, hasInline: v.Inline > 0, messageID: strings.ToLower(v.MessageID),
	}
	e.setTexts(strings.ToLower(v.Subject), addressText(v.From), addressText(v.To...), addressText(v.CC...), addressText(v.BCC...), addressText(v.ReplyTo...), strings.ToLower(v.searchedText))
	return e
}

// setTexts sets searchText to the texts, joined by line feeds, and each field to its part of searchText. A search term
// cannot match across two texts, since it does not contain the separator.
func (e *entry) setTexts(subject, from, to, cc, bcc, replyTo, text string) {
	parts := []string{subject, from, to, cc, bcc, replyTo, text}
	e.searchText = strings.Join(parts, "\n")
	at := 0
	for i, f := range []*string{&e.subject, &e.from, &e.to, &e.cc, &e.bcc, &e.replyTo} {
		*f = e.searchText[at : at+len(parts[i])]
		at += len(parts[i]) + 1
	}
}

// dropText removes the message text from searchText and returns the number of octets freed. The other texts are copied
// to a new string, so that the old one can be garbage collected.
func (e *entry) dropText() int {
	before := len(e.searchText)
	if e.deleted {
		return 0
	}
	e.setTexts(strings.Clone(e.subject), e.from, e.to, e.cc, e.bcc, e.replyTo, "")
	return before - len(e.searchText)
}

// KeepUp refreshes the index every keepUpEvery until ctx ends, so that the first search after a start, or after much
// mail has arrived, does not have to read it all. It ignores errors, since the next refresh tries again. It blocks, so
// callers run it on a goroutine of its own.
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

// addressText returns the text that a search in addresses looks at: a line for each address, with the name, and the
// address in angle brackets, all in lower case.
func addressText(addresses ...message.Address) string {
	var b strings.Builder
	for _, a := range addresses {
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
