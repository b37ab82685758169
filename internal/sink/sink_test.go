package sink_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// fill stores n mails.
func fill(t testing.TB, d *db.DB, s *sink.Service, n int) {
	t.Helper()
	const batch = 1000
	for from := 0; from < n; from += batch {
		var all []sink.Arrival
		for i := from; i < min(n, from+batch); i++ {
			at := noon.Add(time.Duration(i) * time.Millisecond)
			text := fmt.Sprintf("Hello user, this is mail number %d. Your sign-in code is %06d. ", i, i) + strings.Repeat("It is valid for ten minutes. ", 5)
			draft, err := sink.NewDraft(&message.Content{
				From: message.Address{Name: "App", Address: fmt.Sprintf("app%d@company.test", i%50)}, To: []message.Address{{Name: "User", Address: fmt.Sprintf("user%d@company.test", i%5000)}},
				Subject: fmt.Sprintf("Your code %d for today", i), MessageID: fmt.Sprintf("%d@company.test", i), Text: text, Size: 500,
			}, []string{fmt.Sprintf("user%d@company.test", i%5000)})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, sink.Arrival{Draft: draft, ID: id.New[id.SinkMail](at), At: at, Copies: []message.Ref{{Box: id.New[id.Mailbox](at), Message: id.New[id.Message](at)}}})
		}
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return s.InsertTx(ctx, tx, all) }); err != nil {
			t.Fatal(err)
		}
	}
}

func query(t testing.TB, text string) *sink.Query {
	t.Helper()
	q, err := sink.ParseQuery(text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return &q
}

// Two services on one database see each other's changes, also after one has forgotten what was deleted.
func TestIndexFollowsOtherProcesses(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		messages := message.New(message.Parts{DB: d, Clock: c})
		one, other := sink.New(d, c, messages), sink.New(d, c, messages)
		check := func(what string, total, unread int) {
			t.Helper()
			for name, s := range map[string]*sink.Service{"one": one, "the other": other} {
				p, err := s.Search(t.Context(), nil, 0, 10)
				if err != nil || p.Total != total || p.Unread != unread || len(p.Mails) != total {
					t.Errorf("%s, %s: %+v, %v", what, name, p, err)
				}
			}
		}
		check("at first", 0, 0)
		fill(t, d, one, 3)
		check("filled", 3, 3)
		p, err := other.Search(t.Context(), query(t, "subject:\"code 1\""), 0, 10)
		if err != nil || p.Matches != 1 || p.Mails[0].Subject != "Your code 1 for today" {
			t.Fatalf("%+v, %v", p, err)
		}
		if err := other.SetSeen(t.Context(), []id.SinkMail{p.Mails[0].ID}, true); err != nil {
			t.Fatal(err)
		}
		check("marked", 3, 2)
		changes, last, err := one.Changes(t.Context(), 0)
		if err != nil || len(changes) != 3 || last != 4 {
			t.Errorf("%+v, %d, %v", changes, last, err)
		}
		fill(t, d, other, 1)
		check("another", 4, 3)
		if err := one.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTimesInQueries(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	c := clock.NewFake(noon)
	s := sink.New(d, c, message.New(message.Parts{DB: d, Clock: c}))
	fill(t, d, s, 1)
	matches := func(text string) int {
		p, err := s.Search(t.Context(), query(t, text), 0, 10)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return p.Matches
	}
	for _, day := range []string{"2026-%02d-14", "2026/%02d/14"} {
		if got := matches(fmt.Sprintf("after:"+day, 3)); got != 1 {
			t.Errorf(day+" does not begin before noon", 3)
		}
	}
	for month := time.January; month <= time.December; month++ {
		want := 0
		if month <= time.March {
			want = 1
		}
		name := month.String()
		for _, text := range []string{"14 " + name[:3] + " 2026", "14 " + name + " 2026", name[:3] + " 14 2026", name[:3] + " 14, 2026", name + " 14, 2026", "02 " + name[:3] + " 2026"} {
			for _, text := range []string{text, strings.ToLower(text)} {
				if after, before := matches(`after:"`+text+`"`), matches(`before:"`+text+`"`); after != want || before != 1-want {
					t.Errorf("%s: %d after, %d before, want %d and %d", text, after, before, want, 1-want)
				}
			}
		}
	}
}

func TestQueriesAreBounded(t *testing.T) {
	for _, text := range []string{"", " ", "-", `""`, strings.Repeat("a", 1001), strings.Repeat("a ", 17), "after:x", "larger:-1", "larger:9999999999999999"} {
		if _, err := sink.ParseQuery(text, time.UTC); !problem.Has(err, problem.RequestInvalid) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, text := range []string{`to:"a b" -from:c`, `!is:read has:attachment`, `after:"2026-03-14 12:00" larger:3mb`, `"`, `a"b c"d`, "ÄÖ\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := sink.ParseQuery(text, time.UTC); err != nil && !problem.Has(err, problem.RequestInvalid) {
			t.Error(err)
		}
	})
}

// BenchmarkSearch is the time of a search in 100,000 mails: below 50 ms (docs/spec/mailpit.md#search).
func BenchmarkSearch(b *testing.B) {
	d := dbtest.Open(b, db.Options{})
	s := sink.New(d, clock.NewFake(noon), nil)
	fill(b, d, s, 100_000)
	for _, text := range []string{`to:"user1234@company.test"`, `subject:"code 77777"`, "zzzzz", "77777", "ignore this mail", "-zzz -yyy -xxx -www", "to:user"} {
		q := query(b, text)
		if _, err := s.Search(b.Context(), q, 0, 50); err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Search(b.Context(), q, 0, 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
