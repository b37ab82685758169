package system_test

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
)

// TestCrowdBeforeSilentPostgres has more clients call than may wait for the database, which are 2,048 with this budget:
// all are answered, and the memory is bounded. How long that takes, and how many of them find the queue full, depends on
// how fast they arrive; TestSilentPostgres measures the answers, and package db tests that the queue is bounded.
func TestCrowdBeforeSilentPostgres(t *testing.T) {
	const (
		clients = 4000
		rssMax  = 512 << 10 // KiB
	)
	server := newServer(t)
	c := startCluster(t, server.URL("gonebox"), map[string]string{
		"memory.budget": "128MiB",
	}, "smtp, api, jobs")
	s := c.processes[0]
	before := s.peak()
	must(t, server.Freeze())
	var addresses []*http.Client // what one address may have open is limited
	for i := range 40 {
		client := apptest.ClientFrom(fmt.Sprintf("127.0.1.%d", 1+i))
		client.Timeout = 3 * patience
		addresses = append(addresses, client)
	}
	begun := clock.System().Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	refused, others := 0, make(map[string]int)
	for i := range clients {
		all.Go(func() {
			res, err := addresses[i%len(addresses)].Post(s.url+"/mailboxes", "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Errorf("POST /mailboxes, call %d of %d: got the error %v, want a response", i, clients, err)
				return
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			mu.Lock()
			defer mu.Unlock()
			if res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "" {
				refused++
			} else {
				code := apptest.Response{Body: text}.Code()
				others[fmt.Sprintf("%s %s, Retry-After: %s", res.Status, code, res.Header.Get("Retry-After"))]++
			}
		})
	}
	all.Wait()
	took := clock.System().Now().Sub(begun)
	crowded := strings.Count(s.proc.err.String(), "too many calls wait for the database")
	t.Logf("%d of %d refused, %d of them at once, all within %s; memory %d KiB before, %d KiB at most", refused, clients, crowded, took, before, s.peak())
	if refused != clients {
		t.Errorf("POST /mailboxes by %d clients: got %d answers 503 with Retry-After, want all; the others were %v", clients, refused, others)
	}
	if now := s.peak(); now > rssMax {
		t.Errorf("memory of the process: got %d KiB, want %d at most", now, rssMax)
	}
}

// TestLockedPostgres locks the tables that everything needs: clients are soon answered with Retry-After, and calls that
// need none of the tables succeed.
func TestLockedPostgres(t *testing.T) {
	server := newServer(t)
	c := startCluster(t, server.URL("gonebox"), nil, "smtp, api, jobs")
	s := c.processes[0]
	w := newWitness(t, c)
	w.await("success", true)
	w.end()
	database, err := sql.Open("pgx", server.URL("gonebox"))
	must(t, err)
	defer database.Close()
	tx, err := database.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(t.Context(), "LOCK TABLE mailbox, message IN ACCESS EXCLUSIVE MODE")
	must(t, err)
	var all sync.WaitGroup
	for name, call := range map[string]func() string{
		"read":  func() string { return w.call(http.MethodGet, s.url+"/mailboxes/me/messages", w.box.Token, "") },
		"write": func() string { return w.call(http.MethodPost, s.url+"/mailboxes", "", "{}") },
		"mail":  func() string { return w.mail(t.Context(), s, 0) },
	} {
		for range 10 {
			all.Go(func() {
				begun := clock.System().Now()
				answer := call()
				took := clock.System().Now().Sub(begun)
				if polite := strings.HasPrefix(answer, "503 after ") || strings.HasPrefix(answer, "451 "); !polite || took > answerMax {
					t.Errorf("%s while the tables are locked: got %s after %s, want 503 with Retry-After or 451 within %s", name, answer, took, answerMax)
				}
			})
		}
	}
	all.Wait()
	if status, text := s.call(http.MethodGet, "/plans", "", nil); status != http.StatusOK {
		t.Errorf("GET /plans, which needs no table, while the others are locked: got %d %s, want 200", status, text)
	}
	must(t, tx.Rollback())
	await(t, "mail being taken again", func() bool { return strings.HasPrefix(w.mail(t.Context(), s, 0), "250") })
	w.verify()
}
