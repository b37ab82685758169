package apptest

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// A child serves with the clock of its parent, and is gone when it was stopped.
func TestChildServesAndItsClockIsMoved(t *testing.T) {
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
		t.Errorf("%d wait", n)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := s.TryCall(t.Context(), http.MethodGet, "/domains", "", nil); err == nil {
		t.Error("it serves when it was stopped")
	}
}

// What keeps a child from starting is told.
func TestChildTellsWhyItCannotStart(t *testing.T) {
	s := &Service{t: t, Dir: t.TempDir()}
	set := s.settings(map[string]string{"http.addr": "203.0.113.1:1"})
	if _, err := newChild(t, &start{Settings: set}, io.Discard); err == nil || !strings.Contains(err.Error(), "http.addr") {
		t.Errorf("%v", err)
	}
}
