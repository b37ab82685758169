package apptest

import (
	"bytes"
	"context"
	"fmt"
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
	code := m.Run()
	if err := EndChildren(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
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
		t.Errorf("a day later: %d %s, want Status %v", a.Status, a.Body, http.StatusGone)
	}
	if n := s.Sleepers(); n != 0 {
		t.Errorf("%d long-polls are waiting, want 0", n)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := s.TryCall(t.Context(), http.MethodGet, "/domains", "", nil); err == nil {
		t.Error("the child still answers after its end")
	}
}

// Only a test that reads the log has a process of its own, which has ended, with its log written, when the service has stopped.
func TestChildProcessServesOneServiceAfterAnother(t *testing.T) {
	for name, c := range map[string]struct {
		log  io.Writer
		same bool
	}{"log discarded": {io.Discard, true}, "log read": {new(bytes.Buffer), false}} {
		t.Run(name, func(t *testing.T) {
			start := func() (*child, *process) {
				t.Helper()
				s := &Service{t: t, Dir: t.TempDir()}
				made, err := newChild(t, &start{Settings: s.settings(nil), Now: Noon()}, c.log)
				if err != nil {
					t.Fatalf("newChild: %v", err)
				}
				return made, made.process.Load()
			}
			first, firstProcess := start()
			if err := first.stop(); err != nil {
				t.Fatalf("stop: %v", err)
			}
			_, secondProcess := start()
			if same := secondProcess == firstProcess; same != c.same {
				t.Errorf("the second service runs in the process of the first: %t, want %t", same, c.same)
			}
			if err := first.advance(time.Hour); err == nil {
				t.Error("advance of the stopped service = nil, want an error")
			}
		})
	}
}

// The reason why a child cannot start is reported.
func TestChildReportsStartFailure(t *testing.T) {
	s := &Service{t: t, Dir: t.TempDir()}
	set := s.settings(map[string]string{"http.addr": "203.0.113.1:1"})
	if _, err := newChild(t, &start{Settings: set}, io.Discard); err == nil || !strings.Contains(err.Error(), "http.addr") {
		t.Errorf("newChild with a wrong setting = %v, want an error that names http.addr", err)
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
	l := &local{fake: fake, working: schedule.Working}
	c := &Clock{t: t, fake: fake, all: []instance{l}}
	<-begun
	if n, err := l.count(atWork); n != 1 || err != nil {
		t.Fatalf("count of tasks at work = %d, %v, want 1", n, err)
	}
	go func() { end <- struct{}{} }() // at any moment

	c.Advance(time.Minute)

	<-begun // for the second time: the minute was counted
	end <- struct{}{}
	c.WaitForTimers(1)
	if done != 2 {
		t.Errorf("the task ran %d times, want 2", done)
	}
}
