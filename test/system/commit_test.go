package system_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/app/apptest"
)

// storage intercepts a service's commits: it passes them, holds them or makes them fail.
type storage struct {
	held    atomic.Pointer[chan struct{}] // nil: commits pass
	failing atomic.Bool
	commits atomic.Int64 // that were done
}

func (s *storage) commit(commit func() error) error {
	if held := s.held.Load(); held != nil {
		<-*held
	}
	if s.failing.Load() {
		return errors.New("the disk is gone")
	}
	err := commit()
	if err == nil {
		s.commits.Add(1)
	}
	return err
}

// assembled starts the service inside the test, with storage and a clock that the test controls.
func assembled(t *testing.T, set map[string]string) (*apptest.Service, api, *storage) {
	t.Helper()
	disk := &storage{}
	s := apptest.Start(t, apptest.Options{Set: set, App: app.Options{Commit: disk.commit}})
	return s, api{t: t, url: s.URL}, disk
}

func TestReplyWaitsForCommit(t *testing.T) {
	t.Parallel()
	s, a, disk := assembled(t, nil)
	box := a.newMailbox()
	c := mustDial(t, s.SMTP)
	if reply, err := c.begin("sender@example.org", box.Address); err != nil || reply[0] != '3' {
		t.Fatalf("the reply to DATA is %q, %v, want 354", reply, err)
	}
	held := make(chan struct{})
	disk.held.Store(&held)
	before := disk.commits.Load()
	if _, err := c.conn.Write(append(sampleMail("held", "held"), ".\r\n"...)); err != nil {
		t.Fatal(err)
	}
	c.within(300 * time.Millisecond)
	if reply, err := c.reply(); err == nil {
		t.Fatalf("answered %q while the commit was held, want an error", reply)
	}
	c.within(patience)
	a.wantSubjects(box)

	disk.held.Store(nil)
	close(held)
	reply, err := c.reply()
	if err != nil {
		t.Fatal(err)
	}
	wantReply(t, "after the commit", reply, "250 ")
	if disk.commits.Load() == before {
		t.Errorf("250 was answered after %d commits as before, want one more", disk.commits.Load())
	}
	a.wantSubjects(box, "held")
}

func TestFailedCommitIsAnswered451(t *testing.T) {
	t.Parallel()
	s, a, disk := assembled(t, nil)
	box, other := a.newMailbox(), a.newMailbox()
	m := sampleMail("once", "stored once")
	disk.failing.Store(true)
	for range 3 {
		wantReply(t, "failing", send(t, s.SMTP, m, box.Address, other.Address), "451 4.3.0 ")
		a.wantSubjects(box)
		a.wantSubjects(other)
	}
	disk.failing.Store(false)
	wantReply(t, "after it", send(t, s.SMTP, m, box.Address, other.Address), "250 ")
	a.wantSubjects(box, "once")
	a.wantSubjects(other, "once")

	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := apptest.Start(t, apptest.Options{Dir: s.Dir})
	a.url = again.URL
	a.wantSubjects(box, "once")
	a.wantSubjects(other, "once")
}
