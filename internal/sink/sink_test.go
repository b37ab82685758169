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
	"github.com/gonebox/gonebox/internal/search"
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
			}, []string{fmt.Sprintf("user%d@company.test", i%5000)}, fmt.Sprintf("application %d", i%5))
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

func query(t testing.TB, text string) *search.Query {
	t.Helper()
	q, err := search.Parse("?query", text, time.UTC)
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
					t.Errorf("%s: Search of the sink %s = %+v, %v, want %d mails, %d unread", what, name, p, err, total, unread)
				}
			}
		}
		check("at first", 0, 0)
		fill(t, d, one, 3)
		check("filled", 3, 3)
		p, err := other.Search(t.Context(), query(t, "subject:\"code 1\""), 0, 10)
		if err != nil || p.Matches != 1 || p.Mails[0].Subject != "Your code 1 for today" || p.Mails[0].Username != "application 1" {
			t.Fatalf("Search for a subject = %+v, %v, want one mail, Your code 1 for today of application 1", p, err)
		}
		if err := other.SetSeen(t.Context(), []id.SinkMail{p.Mails[0].ID}, true); err != nil {
			t.Fatal(err)
		}
		check("marked", 3, 2)
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
			t.Fatalf("Search(%s): %v", text, err)
		}
		return p.Matches
	}
	for _, day := range []string{"2026-%02d-14", "2026/%02d/14"} {
		if got := matches(fmt.Sprintf("after:"+day, 3)); got != 1 {
			t.Errorf("Search(after:%s) finds %d mails, want 1: the day begins before noon", fmt.Sprintf(day, 3), got)
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

// Mails with long lists of addresses are read a few at a time, and none is lost or read twice.
func TestLongMailsAreListedInOrder(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		s := sink.New(d, c, message.New(message.Parts{DB: d, Clock: c}))
		const mails = 40
		var all []sink.Arrival
		for i := range mails {
			content := message.Content{Subject: fmt.Sprint(i), Size: int64(i)}
			for n := range 90 {
				content.To = append(content.To, message.Address{Name: strings.Repeat("n", 100+20*i), Address: fmt.Sprintf("u%d@company.test", n)})
			}
			draft, err := sink.NewDraft(&content, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, sink.Arrival{Draft: draft, ID: id.New[id.SinkMail](noon), At: noon})
		}
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return s.InsertTx(ctx, tx, all) }); err != nil {
			t.Fatal(err)
		}
		_, found, err := s.Find(t.Context(), nil, 2, mails)
		if err != nil || len(found) != mails-2 || found[0].Size != mails-3 {
			t.Fatalf("Find(nil, 2, %d): %d mails, %v; want %d", mails, len(found), err, mails-2)
		}
		want := mails - 3
		err = s.Each(t.Context(), found, func(m *sink.Mail) bool {
			if m.Subject != fmt.Sprint(want) || len(m.To) != 90 {
				t.Errorf("Each: the mail %q with %d recipients, want %q with 90", m.Subject, len(m.To), fmt.Sprint(want))
			}
			want--
			return want > 1
		})
		if err != nil || want != 1 {
			t.Errorf("Each: %v after mail %d, want it to end at 2", err, want+1)
		}
	})
}

// A tag is of ASCII, at most 100 characters, without spaces around it, and cleaning it again changes nothing.
func FuzzCleanTag(f *testing.F) {
	for _, text := range []string{"sign-up", " two  words ", "grüße\r\nX: y", strings.Repeat("a ", 200), "\x00", "a,b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag := sink.CleanTag(text)
		if len(tag) > 100 || tag != strings.TrimSpace(tag) || strings.ContainsFunc(tag, func(r rune) bool { return r < ' ' || r > '~' || r == ',' }) || strings.Contains(tag, "  ") {
			t.Errorf("CleanTag(%q) = %q, want at most 100 printable characters without commas, and single spaces inside alone", text, tag)
		}
		if again := sink.CleanTag(tag); again != tag {
			t.Errorf("CleanTag(%q) = %q, want it unchanged", tag, again)
		}
	})
}
