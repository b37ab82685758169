package apptest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/job"
)

func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// A child serves with the clock of its parent, and has ended after it was stopped.
func TestChildServesOnParentsClock(t *testing.T) {
	s := &Service{t: t, Dir: t.TempDir(), client: newClient(t)}
	c, err := newChild(t, &start{Settings: s.settings(nil), Now: Noon()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s.instances, s.edges = []instance{c}, []addresses{c.addresses()}
	s.URL = c.addresses().Web + "/api/v1"

	box := s.NewMailbox()
	if err := c.advance(24 * time.Hour); err != nil {
		t.Fatal(err)
	}

	if a := s.Call(http.MethodGet, "/mailboxes/me", box.Token, nil); a.Status != http.StatusGone {
		t.Errorf("a day later: %d %s", a.Status, a.Body)
	}
	if n := s.Sleepers(); n != 0 {
		t.Errorf("%d long-polls are waiting", n)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := s.TryCall(t.Context(), http.MethodGet, "/domains", "", nil); err == nil {
		t.Error("the child still answers after its end")
	}
}

// The reason why a child cannot start is reported.
func TestChildReportsStartFailure(t *testing.T) {
	s := &Service{t: t, Dir: t.TempDir()}
	set := s.settings(map[string]string{"http.addr": "203.0.113.1:1"})
	if _, err := newChild(t, &start{Settings: set}, io.Discard); err == nil || !strings.Contains(err.Error(), "http.addr") {
		t.Errorf("%v", err)
	}
}

// If the clock moved while a task is running, the task would compute its next time from the new one.
func TestClockWaitsForRunningTasks(t *testing.T) {
	fake := clock.NewFake(Noon())
	begun, end := make(chan struct{}), make(chan struct{})
	var done int
	schedule := job.NewSchedule(fake, slog.New(slog.DiscardHandler), job.Task{Name: "slow", Every: time.Minute, Do: func(context.Context) error {
		done++
		begun <- struct{}{}
		<-end
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { schedule.Run(ctx) })
	defer running.Wait()
	defer cancel()
	l := &local{fake: fake}
	c := &Clock{t: t, fake: fake, all: []instance{l}}
	<-begun
	if n, err := l.count(atWork); n != 1 || err != nil {
		t.Fatalf("%d at work, %v", n, err)
	}
	go func() { end <- struct{}{} }() // at any moment

	c.Advance(time.Minute)

	<-begun // for the second time: the minute was counted
	end <- struct{}{}
	c.WaitForTimers(1)
	if done != 2 {
		t.Errorf("the task ran %d times", done)
	}
}
