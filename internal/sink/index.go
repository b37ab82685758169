package sink

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/search"
)

// entry is a mail in the index. A deleted entry stays in index.entries for a while and must
// be skipped.
type entry struct {
	id     id.SinkMail
	number int64

	deleted bool
	search.Document
}

// index holds the searched texts in memory, so that a search in 100,000 mails takes milliseconds whatever the query.
// Before each use it reads the changes since the previous use, so that every process sees what any process has
// committed. Its size is bounded by entriesMax and textMax.
//
// refreshMu is locked before mu. Searches hold mu for reading only, so they run concurrently; a change of the index
// waits for them.
type index struct {
	project id.Project // whose mail it has; "": it has all mail

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
	textSize     int                    // octets of all entries' texts and tags
	tags         tagCounts              // of byID
	textMax      int                    // bound of textSize; set before the index is used
}

// refresh brings the index up to date. It loads the whole index at the first use, and also if Sweep has removed rows of
// deleted mails that this process had not read yet.
func (s *Service) refresh(ctx context.Context, x *index) error {
	x.refreshMu.Lock()
	defer x.refreshMu.Unlock()
	ctx = db.Background(ctx) // loading everything takes longer than other reads
	lastChange, sweptUpTo, err := readState(ctx, s.db)
	if err != nil {
		return err
	}
	if !x.loaded || x.lastChange < sweptUpTo {
		return s.load(ctx, x, lastChange)
	}
	if lastChange == x.lastChange {
		return nil
	}
	return s.catchUp(ctx, x, lastChange)
}

// catchUp applies the changes up to the one numbered lastChange, page by page, so that it holds little of them and
// searches go on in between. The content of a mail that is in the index is not read again. After an error the next
// refresh applies all of them, some for the second time. The caller holds refreshMu.
func (s *Service) catchUp(ctx context.Context, x *index, lastChange int64) error {
	r := ChangeReader{s: s, project: x.project, since: x.lastChange}
	r.begin(lastChange)
	for more := true; more; {
		var arrived []*entry
		var changed []state
		var err error
		more, err = r.page(ctx,
			func(v *row) bool { arrived = append(arrived, newEntry(v)); return true },
			func(v state) bool { changed = append(changed, v); return true })
		if err != nil {
			return err
		}
		x.mu.Lock()
		for _, e := range arrived {
			x.insert(e)
		}
		for _, v := range changed {
			x.apply(v)
		}
		if !more {
			x.lastChange = lastChange
		}
		x.enforceLimits()
		x.mu.Unlock()
	}
	return nil
}

// load reads the newest entriesMax mails and replaces the index with them. lastChange is the last change that the rows
// are known to include. If they include later ones, the next refresh reads those again. After an error the old index
// is unchanged. The caller holds refreshMu.
func (s *Service) load(ctx context.Context, x *index, lastChange int64) error {
	var entries []*entry
	total := 0
	own, args := within(x.project, 2)
	err := forEachRow(ctx, s.db, func(v *row) bool {
		e := newEntry(v)
		if total+e.Octets() > x.textMax { // the newest come first, and keep their texts
			e.DropText()
		}
		if total+e.Octets() > x.textMax {
			e.DropFields()
		}
		total += e.Octets()
		entries = append(entries, e)
		return true
	}, selectAll+own+newestMails, append([]any{entriesMax}, args...)...)
	if err != nil {
		return err
	}
	slices.Reverse(entries)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded, x.lastChange, x.entries, x.byID = true, lastChange, entries, make(map[id.SinkMail]*entry, len(entries))
	x.deletedCount, x.unread, x.textSize, x.tags = 0, 0, 0, tagCounts{}
	for _, e := range entries {
		x.byID[e.id] = e
		x.textSize += e.Octets()
		x.tags.add(e.Tags, 1)
		if !e.Seen {
			x.unread++
		}
	}
	x.enforceLimits()
	return nil
}

// insert adds the entry of a mail that has arrived, unless a load has read it already. The caller holds mu for writing.
func (x *index) insert(e *entry) {
	if x.byID[e.id] != nil {
		x.apply(state{id: e.id, seen: e.Seen, tags: e.Tags})
		return
	}
	x.byID[e.id] = e
	x.textSize += e.Octets()
	x.tags.add(e.Tags, 1)
	if !e.Seen {
		x.unread++
	}
	at, _ := slices.BinarySearchFunc(x.entries, e.number, func(e *entry, n int64) int { return cmp.Compare(e.number, n) })
	x.entries = slices.Insert(x.entries, at, e) // nearly always at the end
}

// apply applies the state of a mail. A mail that is not in the index is not listed any more, and is ignored. The caller
// holds mu for writing.
func (x *index) apply(v state) {
	e := x.byID[v.id]
	switch {
	case e == nil:
		return
	case v.deleted:
		x.remove(e)
		return
	case e.Seen != v.seen:
		e.Seen = v.seen
		if x.unread++; e.Seen {
			x.unread -= 2
		}
	}
	if !slices.Equal(e.Tags, v.tags) {
		x.textSize -= e.Octets()
		x.tags.add(e.Tags, -1)
		e.Tags = v.tags
		x.tags.add(e.Tags, 1)
		x.textSize += e.Octets()
	}
}

// remove marks an entry as deleted. The entry stays in entries until enforceLimits removes many at once, since removing
// a single one moves all that follow. The caller holds mu for writing.
func (x *index) remove(e *entry) {
	delete(x.byID, e.id)
	x.textSize -= e.Octets()
	x.tags.add(e.Tags, -1)
	e.Clear()
	e.deleted = true
	x.deletedCount++
	if !e.Seen {
		x.unread--
	}
}

// enforceLimits removes the oldest entries beyond entriesMax, drops the oldest message texts beyond textMax, and then the
// other texts of the oldest mails, and removes deleted entries from entries if they are more than 64 and more than a quarter. The caller holds mu for
// writing.
func (x *index) enforceLimits() {
	for i := 0; len(x.byID) > entriesMax; i++ {
		if !x.entries[i].deleted {
			x.remove(x.entries[i])
		}
	}
	for i := 0; x.textSize > x.textMax && i < len(x.entries); i++ {
		x.textSize -= x.entries[i].DropText()
	}
	for i := 0; x.textSize > x.textMax && i < len(x.entries); i++ {
		x.tags.add(x.entries[i].Tags, -1)
		x.textSize -= x.entries[i].DropFields()
	}
	if x.deletedCount > 64 && x.deletedCount > len(x.entries)/4 {
		x.entries = slices.DeleteFunc(x.entries, func(e *entry) bool { return e.deleted })
		x.deletedCount = 0
	}
}

// newEntry returns the entry of a row whose mail is not deleted.
func newEntry(v *row) *entry {
	return &entry{id: v.ID, number: v.Number, Document: search.New(search.Mail{
		ReceivedAt: v.ReceivedAt, Size: v.Size, Seen: v.Seen, HasAttachments: v.Attachments > 0, HasInline: v.Inline > 0,
		MessageID: v.MessageID, Sender: v.Sender, Subject: v.Subject, From: v.From, To: v.To, CC: v.CC, BCC: v.BCC, ReplyTo: v.ReplyTo,
		Text: v.searchedText, Tags: v.Tags,
	})}
}

// LimitIndex bounds the texts that the index holds in memory to n octets, if that is less than the default. It must be called
// before the Service is used.
func (s *Service) LimitIndex(n int64) { s.index.textMax = int(min(n, textTotal)) }

// KeepUp refreshes the index every keepUpEvery until ctx ends, so that the first search after a start, or after much
// mail has arrived, does not have to read it all. It ignores errors, since the next refresh tries again. It blocks, so
// callers run it on a goroutine of its own.
func (s *Service) KeepUp(ctx context.Context) {
	for {
		_ = s.refresh(ctx, &s.index) // a search that needs it reports the error
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
