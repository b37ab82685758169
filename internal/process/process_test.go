package process_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/process"
)

func noon() *clock.Fake { return clock.NewFake(time.Date(2026, 3, 14, 12, 0, 30, 0, time.UTC)) }

func TestTrafficForgetsOldMinutes(t *testing.T) {
	c := noon()
	s := process.New(c, process.Process{Name: "alone"})
	for range process.Minutes + 5 {
		s.Accepted()
		s.Refused("550 5.1.1")
		s.Stopped(process.ByLimit, "reads")
		c.Advance(time.Minute)
	}
	all, err := s.All(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("s.All() = %+v, %v, want one process", all, err)
	}
	mail := process.Total(all, c.Now())
	accepted, refused := int64(0), int64(0)
	for _, m := range mail.Minutes {
		accepted, refused = accepted+m.Accepted, refused+m.Refused
	}
	const want = process.Minutes - 1 // there was none in the current minute
	if len(mail.Minutes) != process.Minutes || accepted != want || refused != want {
		t.Errorf("process.Total(all, c.Now()) = %+v, want %d accepted and refused in %d minutes", mail, want, process.Minutes)
	}
	for _, r := range mail.Refusals {
		if r.Count != want {
			t.Errorf("process.Total(all, c.Now()) has %+v, want the count %d", r, want)
		}
	}
}

// Fault rules refuse with any reply, so a client could make up causes without end.
func TestCausesOfAMinuteAreBounded(t *testing.T) {
	c := noon()
	s := process.New(c, process.Process{Name: "alone"})
	const replies, max = 1000, 64
	for i := range replies {
		s.Refused(fmt.Sprint("451 4.3.", i))
	}
	all, _ := s.All(t.Context())
	refusals := process.Total(all, c.Now()).Refusals
	if len(refusals) != max+1 || refusals[0].Reason != "other" || refusals[0].Count != replies-max {
		t.Errorf("%d causes, the most frequent %+v, want %d, and %d times other", len(refusals), refusals[0], max+1, replies-max)
	}
}

func TestProcessesSeeEachOther(t *testing.T) {
	c := noon()
	d := dbtest.OpenPostgres(t, db.Options{})
	names := []string{"a", "b", "c"}
	var all []*process.Service
	for _, name := range names {
		s := process.New(c, process.Process{Name: name, Version: "1-" + name, Roles: []string{"smtp", "api"}})
		s.Share(d)
		s.Accepted()
		if err := s.Report(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		c.Advance(time.Second)
	}
	check := func(want string, accepted int64) {
		t.Helper()
		seen, err := all[0].All(t.Context())
		got := ""
		for _, p := range seen {
			got += fmt.Sprint(p.Name, " ", p.Version, " ", len(p.Roles), " ", c.Now().Sub(p.SeenAt), " ", p.Ended, "; ")
		}
		total := int64(0)
		for _, m := range process.Total(seen, c.Now()).Minutes {
			total += m.Accepted
		}
		if err != nil || got != want || total != accepted {
			t.Errorf("all[0].All() = %s (%d accepted), %v, want %s (%d accepted)", got, total, err, want, accepted)
		}
	}
	check("a 1-a 2 0s false; c 1-c 2 1s false; b 1-b 2 2s false; ", 3)
	c.Advance(9 * time.Second)
	if err := all[1].Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("a 1-a 2 0s false; c 1-c 2 10s false; b 1-b 2 0s true; ", 3)
	c.Advance(time.Hour - 5*time.Second)
	check("a 1-a 2 0s false; b 1-b 2 59m55s true; ", 0)
	c.Advance(time.Minute)
	if err := all[0].Report(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM process").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows (%v), want 1: the others are old", rows, err)
	}
}

func BenchmarkAccepted(b *testing.B) {
	s := process.New(clock.System(), process.Process{})
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			s.Accepted()
		}
	})
}
