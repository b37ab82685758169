package system_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestConnectionsToPostgresAreBounded has many clients write and read at once, with as few connections as can be set: all
// of them succeed, and no more connections are open.
func TestConnectionsToPostgresAreBounded(t *testing.T) {
	t.Parallel()
	const most, tries = 12, 20 // on a busy machine a call may wait too long for a connection
	server := newServer(t)
	s := start(t, options{set: map[string]string{
		"database.url": server.URL("gonebox"), "secrets.key": strings.Repeat("5e", 32), "database.connections": "12",
		"limits.mailbox_create": "1000/1m",
	}})
	var all sync.WaitGroup
	for range 150 { // one address may have 200 connections
		all.Go(func() {
			var made struct{ Data struct{ Token string } }
			var status int
			var text []byte
			for range tries {
				if status, text = s.call(http.MethodPost, "/mailboxes", "", struct{}{}); status != http.StatusServiceUnavailable {
					break
				}
			}
			if err := json.Unmarshal(text, &made); status != http.StatusCreated || err != nil {
				t.Errorf("create a mailbox: %d %s, %v, want %v", status, text, err, http.StatusCreated)
				return
			}
			if status, text := s.call(http.MethodGet, "/mailboxes/me/messages", made.Data.Token, nil); status != http.StatusOK {
				t.Errorf("list its messages: %d %s, want %v", status, text, http.StatusOK)
			}
		})
	}
	all.Wait()
	database, err := sql.Open("pgx", server.URL("gonebox"))
	must(t, err)
	defer database.Close()
	var open int
	const count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gonebox'"
	must(t, database.QueryRowContext(t.Context(), count).Scan(&open))
	if open > most || open < most/2 { // those that were needed stay open for a while
		t.Errorf("%d connections are open, want %d to %d", open, most/2, most)
	}
}
