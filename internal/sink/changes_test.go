package sink_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/sink"
)

// follower counts the changes that a reader returns.
type follower struct {
	t      *testing.T
	reader *sink.ChangeReader
	counts map[string]int
	pages  int
}

func follow(t *testing.T, s *sink.Service) *follower {
	t.Helper()
	r, err := s.Follow(t.Context())
	if err != nil {
		t.Fatalf("Follow: %v", err)
	}
	return &follower{t: t, reader: r, counts: make(map[string]int)}
}

// next reads a page and reports whether the round has more.
func (f *follower) next() bool {
	f.t.Helper()
	n := 0
	more, err := f.reader.Next(f.t.Context(), func(c sink.Change) bool {
		n++
		switch {
		case c.Deleted:
			f.counts["deleted"]++
		case c.New && c.Mail == nil:
			f.t.Errorf("Next(): the new mail %s has no content, want its summary", c.ID)
		case c.New:
			f.counts["new"]++
		default:
			f.counts[fmt.Sprintf("seen %v", c.Seen)]++
		}
		return true
	})
	if err != nil {
		f.t.Fatalf("Next: %v", err)
	}
	if n > sink.ChangesPage {
		f.t.Errorf("Next() returned a page of %d changes, want at most %d", n, sink.ChangesPage)
	}
	f.pages++
	return more
}

// expect reads what is left of the round and checks what the reader has returned since the last call.
func (f *follower) expect(what string, want map[string]int) {
	f.t.Helper()
	for f.next() {
	}
	if f.next() {
		f.t.Errorf("%s: Next() says that there is more after a round, want the end", what)
	}
	if !maps.Equal(f.counts, want) {
		f.t.Errorf("%s: the changes are %v, want %v", what, f.counts, want)
	}
	clear(f.counts)
}

// newest returns the identifiers of the newest n mails.
func newest(t *testing.T, s *sink.Service, n int) []id.SinkMail {
	t.Helper()
	p, err := s.Search(t.Context(), nil, 0, n)
	if err != nil {
		t.Fatalf("Search: %v", err)
	}
	var ids []id.SinkMail
	for _, m := range p.Mails {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestChangesAreReadOnceEach(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		s := sink.New(d, c, message.New(message.Parts{DB: d, Clock: c}))
		mark := func(ids []id.SinkMail, seen bool) {
			t.Helper()
			if err := s.SetSeen(t.Context(), ids, seen); err != nil {
				t.Fatalf("SetSeen of %d mails: %v", len(ids), err)
			}
		}
		fill(t, d, s, 10)
		f := follow(t, s)
		f.expect("before anything", map[string]int{})
		fill(t, d, s, 450)
		f.expect("450 arrived", map[string]int{"new": 450})
		mark(newest(t, s, 450), true)
		f.expect("450 marked", map[string]int{"seen true": 450})

		// A mail that arrives and is marked before it was read is only new.
		fill(t, d, s, 1)
		mark(newest(t, s, 1), true)
		f.expect("one arrived and was marked", map[string]int{"new": 1})

		// What changes between two pages is read once, in this round or in the next one.
		fill(t, d, s, 300)
		f.next()
		mark(newest(t, s, 300), true)
		fill(t, d, s, 5)
		for f.next() {
		}
		f.expect("300 arrived and were marked between two pages, then 5 arrived", map[string]int{"new": 305, "seen true": 300})
	})
}

func TestPageOfChangesEndsWhereTheCallerWants(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	c := clock.NewFake(noon)
	s := sink.New(d, c, message.New(message.Parts{DB: d, Clock: c}))
	r, err := s.Follow(t.Context())
	if err != nil {
		t.Fatalf("Follow: %v", err)
	}
	fill(t, d, s, 7)
	var subjects []string
	for more := true; more; {
		n := 0
		more, err = r.Next(t.Context(), func(c sink.Change) bool {
			subjects = append(subjects, c.Mail.Subject)
			n++
			return n < 3
		})
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		if n > 3 {
			t.Errorf("Next() called its function %d times although it returned false at the third, want at most 3", n)
		}
	}
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("Your code %d for today", i))
	}
	if !slices.Equal(subjects, want) {
		t.Errorf("pages of 3 have the subjects %q, want %q", subjects, want)
	}
}

// Marking many mails does not make the index read their contents again: what a list needs is right while a follower and
// the index read page by page.
func TestIndexFollowsManyMarks(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		s := sink.New(d, c, message.New(message.Parts{DB: d, Clock: c}))
		fill(t, d, s, 500)
		ids := newest(t, s, 500)
		for _, seen := range []bool{true, false} {
			if err := s.SetSeen(t.Context(), ids, seen); err != nil {
				t.Fatalf("SetSeen: %v", err)
			}
			unread := 500
			if seen {
				unread = 0
			}
			p, err := s.Search(t.Context(), nil, 498, 10)
			if err != nil || p.Total != 500 || p.Unread != unread || p.UnreadMatching != unread || p.Matches != 500 || len(p.Mails) != 2 {
				t.Errorf("Search(nil, 498, 10) after marking all as %v: %d mails of %d, %d unread, %v; want 2 of 500, %d unread", seen, len(p.Mails), p.Total, p.Unread, err, unread)
			}
			if p, err = s.Search(t.Context(), query(t, "is:unread"), 0, 1); err != nil || p.Matches != unread {
				t.Errorf("Search(is:unread) after marking all as %v: %d matches, %v; want %d", seen, p.Matches, err, unread)
			}
		}
	})
}

// Beyond the bound of the index the texts of the oldest mails are not searched, and all mails are listed. That holds for an
// index that is loaded and for one that followed the arrivals.
func TestIndexIsBounded(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	c := clock.NewFake(noon)
	newService := func(octets int64) *sink.Service {
		s := sink.New(d, c, message.New(message.Parts{DB: d, Clock: c}))
		s.LimitIndex(octets)
		return s
	}
	matches := func(s *sink.Service, text string) int {
		t.Helper()
		p, err := s.Search(t.Context(), query(t, text), 0, 0)
		if err != nil {
			t.Fatalf("Search(%s): %v", text, err)
		}
		return p.Matches
	}
	const mails = 1000
	following := newService(100 << 10)
	if n := matches(following, "is:unread"); n != 0 {
		t.Fatalf("%d mails before any arrived, want 0", n)
	}
	for range 4 {
		fill(t, d, following, mails/4)
		matches(following, "is:unread")
	}
	for name, test := range map[string]struct {
		s   *sink.Service
		all bool // texts are searched
	}{
		"following, 100 KiB": {s: following},
		"loaded, 100 KiB":    {s: newService(100 << 10)},
		"loaded, 10 KiB":     {s: newService(10 << 10)},
		"loaded, 1 GiB":      {s: newService(1 << 30), all: true},
	} {
		texts, subjects, listed := matches(test.s, "valid for ten minutes"), matches(test.s, "subject:today"), matches(test.s, "is:unread")
		if listed != mails {
			t.Errorf("%s: %d mails are listed, want %d", name, listed, mails)
		}
		if test.all != (texts == mails && subjects == mails) || texts > subjects || texts == 0 && !strings.Contains(name, "following") {
			t.Errorf("%s: the texts of %d mails and the subjects of %d are searched; want all: %v", name, texts, subjects, test.all)
		}
		if p, err := test.s.Search(t.Context(), query(t, "addressed:company"), 0, 0); err != nil || p.Matches != subjects {
			t.Errorf("%s: the addresses of %d mails are searched, %v; want %d as their subjects", name, p.Matches, err, subjects)
		}
	}
}
