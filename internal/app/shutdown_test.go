package app_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// During shutdown_delay the service keeps serving, its readiness check fails, and responses close their connections.
func TestServiceServesDuringShutdownDelay(t *testing.T) {
	s := apptest.Start(t, apptest.Options{Set: map[string]string{"shutdown_delay": "10s"}})
	box := s.NewMailbox()
	polled := make(chan apptest.Response)
	go func() {
		a, _ := s.TryCall(t.Context(), http.MethodGet, "/mailboxes/me/messages?wait=60", box.Token, nil)
		polled <- a
	}()
	waitFor(t, func() bool { return s.Sleepers() == 1 })
	if status, closes := answer(t, s, "/readyz", ""); status != http.StatusOK || closes {
		t.Errorf("GET /readyz before the end: status %d, the connection is closed: %t; want 200 and an open connection", status, closes)
	}

	ended := make(chan error, 1)
	go func() { ended <- s.Stop() }()
	waitFor(t, func() bool { return s.Call(http.MethodGet, "/readyz", "", nil).Status == http.StatusServiceUnavailable })
	var probe struct{ Data struct{ Status string } }
	a := s.Call(http.MethodGet, "/readyz", "", nil)
	if err := json.Unmarshal(a.Body, &probe); err != nil || probe.Data.Status != "stopping" {
		t.Errorf("GET /readyz during the shutdown delay: %s, %v, want the status stopping", a.Body, err)
	}
	if a := s.Call(http.MethodGet, "/healthz", "", nil); a.Status != http.StatusOK {
		t.Errorf("healthz: %d, want Status %v", a.Status, http.StatusOK)
	}
	if status, closes := answer(t, s, "/mailboxes/me", box.Token); status != http.StatusOK || !closes {
		t.Errorf("%d, the connection is closed: %t, want %v and closes true", status, closes, http.StatusOK)
	}
	s.Send(apptest.Mail{To: []string{box.Address}, Subject: "late"})
	var list []struct{ Subject string }
	if (<-polled).Into(t, &list); len(list) != 1 || list[0].Subject != "late" {
		t.Errorf("the long-poll returned %v, want the message late alone", list)
	}

	s.Clock.WaitForTimers(1) // the timer of the delay: the periodic jobs have ended
	s.Clock.Advance(10 * time.Second)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := s.TryCall(t.Context(), http.MethodGet, "/healthz", "", nil); err == nil {
		t.Error("the service still answers after its end")
	}
}

// answer returns the status of a call, and whether the server closes its connection.
func answer(t *testing.T, s *apptest.Service, path, token string) (status int, closes bool) {
	t.Helper()
	r, err := s.Request(t.Context(), http.MethodGet, path, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode, res.Close
}

// waitFor polls until holds returns true, which depends on another goroutine.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition did not hold within a minute")
		}
	}
}
