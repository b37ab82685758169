package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

type page struct {
	Data       []summary
	NextCursor *string
}

func (s *service) page(token, query string) (p page) {
	s.t.Helper()
	a := s.call("GET", "/mailboxes/me/messages?"+query, token, 200, "")
	if err := json.Unmarshal(a.Body, &p); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func ids(all []summary) []string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = m.ID
	}
	return out
}

// Whatever mail arrives or is deleted between two pages, a client that pages on sees every message that was there at
// the start and was not deleted, once, newest first.
func TestPagesAreStableWhileMailArrives(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		box := s.create("", nil)
		for i := range rapid.IntRange(0, 7).Draw(rt, "mails before") {
			s.mail(box.box(), apptest.Mail{Subject: fmt.Sprint(i)})
		}
		stay := ids(s.page(box.Token, "").Data)
		var seen []string
		query := "limit=" + fmt.Sprint(rapid.IntRange(1, 4).Draw(rt, "limit"))
		for cursor := ""; ; {
			p := s.page(box.Token, query+cursor)
			seen = append(seen, ids(p.Data)...)
			if p.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(*p.NextCursor)
			if rapid.Bool().Draw(rt, "mail between") {
				s.mail(box.box(), apptest.Mail{Subject: "new"})
			}
			if len(stay) > 0 && rapid.Bool().Draw(rt, "deletion between") {
				i := rapid.IntRange(0, len(stay)-1).Draw(rt, "which")
				s.call("DELETE", "/messages/"+stay[i], box.Token, 204, "")
				stay = slices.Delete(stay, i, i+1)
			}
		}
		if !slices.IsSortedFunc(seen, func(a, b string) int { return -compare(a, b) }) {
			rt.Errorf("the pages list %v, want the newest first, each once", seen)
		}
		for _, id := range stay {
			if !slices.Contains(seen, id) {
				rt.Errorf("the pages list %v, want %s there, which was stored all the time", seen, id)
			}
		}
	})
}

// compare orders identifiers, newest first; equal ones count as out of order.
func compare(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

func TestPageSizes(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	box := s.create("", nil)
	for i := range 101 {
		s.Send(apptest.Mail{To: []string{box.Address}, Subject: fmt.Sprint(i)})
	}
	for query, wanted := range map[string]int{"": 50, "limit=1": 1, "limit=100": 100} {
		if p := s.page(box.Token, query); len(p.Data) != wanted || p.NextCursor == nil {
			t.Errorf("GET messages with %q: %d messages, cursor %v, want %d and a cursor", query, len(p.Data), p.NextCursor, wanted)
		}
	}
	first := s.page(box.Token, "limit=100")
	last := s.page(box.Token, "limit=100&cursor="+*first.NextCursor)
	if len(last.Data) != 1 || last.NextCursor != nil || last.Data[0].Subject != "0" || first.Data[0].Subject != "100" {
		t.Errorf("the page behind one that begins with %s is %+v, want 100 before the mail 0 alone, without a cursor", first.Data[0].Subject, last)
	}
}

func TestAfterAndSince(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	box := s.create("", nil)
	var all []summary
	for i := range 4 {
		all = append(all, s.mail(box.box(), apptest.Mail{Subject: fmt.Sprint(i)}))
		s.Clock.Advance(time.Second)
	}
	at := func(i int) string { return url.QueryEscape(all[i].ReceivedAt.Format(time.RFC3339Nano)) }
	for query, wanted := range map[string][]int{
		"after=" + all[1].ID:                           {3, 2},
		"after=" + all[3].ID:                           {},
		"since=" + at(2):                               {3},
		"since=2026-03-14T13%3A00%3A01%2B01%3A00":      {3, 2}, // another zone
		"since=2027-01-01T00%3A00%3A00Z":               {},
		"since=1970-01-01T00%3A00%3A00Z":               {3, 2, 1, 0},
		"after=" + all[0].ID + "&since=" + at(2):       {3},
		"after=" + all[0].ID + "&since=" + at(3):       {},
		"after=" + all[0].ID + "&limit=2":              {3, 2},
		"after=msg_00000000000000000000000000":         {3, 2, 1, 0},
		"after=msg_7zzzzzzzzzzzzzzzzzzzzzzzzz&limit=1": {},
	} {
		got := s.page(box.Token, query)
		var subjects []int
		for _, m := range got.Data {
			var n int
			_, _ = fmt.Sscan(m.Subject, &n)
			subjects = append(subjects, n)
		}
		if !slices.Equal(subjects, wanted) && len(subjects)+len(wanted) > 0 {
			t.Errorf("GET messages with %s lists %v, want %v", query, subjects, wanted)
		}
	}
	next := s.page(box.Token, "after="+all[0].ID+"&limit=2").NextCursor
	if rest := s.page(box.Token, "after="+all[0].ID+"&limit=2&cursor="+*next); len(rest.Data) != 1 || rest.Data[0].ID != all[1].ID {
		t.Errorf("the page behind a cursor is %+v, want %s alone, still after the first", rest, all[1].ID)
	}
}

// Two messages with the same receivedAt keep their order, and after=<the first> returns the second.
func TestMessagesWithEqualTimesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	box := s.create("", nil)
	first, second := s.mail(box.box(), apptest.Mail{Subject: "first"}), s.mail(box.box(), apptest.Mail{Subject: "second"})
	if p := s.page(box.Token, "after="+first.ID); len(p.Data) != 1 || p.Data[0].ID != second.ID {
		t.Errorf("GET messages after %s = %+v, want %s alone", first.ID, p, second.ID)
	}
}

// api.page_max bounds what a call may ask for.
func TestPagesHaveAtMostAsManyEntriesAsConfigured(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"api.page_max": "3", "api.page_default": "2"})
	box := s.create("", nil)
	for i := range 5 {
		s.Send(apptest.Mail{To: []string{box.Address}, Subject: fmt.Sprint(i)})
	}
	for query, want := range map[string]int{"": 2, "?limit=1": 1, "?limit=3": 3, "?limit=100": 3} {
		if got := get[[]summary](s, "/mailboxes/me/messages"+query, box.Token); len(got) != want {
			t.Errorf("GET /mailboxes/me/messages%s: %d entries, want %d", query, len(got), want)
		}
	}
}
