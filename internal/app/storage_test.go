package app_test

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// The configuration is checked before the database is opened: here there is none.
func TestSharedDatabaseRequiresSecret(t *testing.T) {
	cfg, err := config.Load("", nil, map[string]string{
		"data_dir": t.TempDir(), "database.url": "postgres://user@127.0.0.1:1/none",
		"http.addr": "127.0.0.1:0", "smtp.addr": "127.0.0.1:0",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(t.Context(), cfg, app.Options{}); err == nil || !strings.HasPrefix(err.Error(), "secrets.key: must be set where database.url is") {
		t.Errorf("New without secrets.key = %v, want an error that begins with secrets.key: must be set where database.url is", err)
	}
}

// Beside those that read and write there are eight connections: six of the ledger, and two that pass on notifications.
func TestConnectionsAreDividedBetweenReadsAndWrites(t *testing.T) {
	for connections, want := range map[int][2]int{12: {2, 2}, 13: {2, 3}, 24: {8, 8}} {
		var cfg config.Config
		cfg.Database.Connections = connections
		if readers, writers := app.DatabaseConnections(&cfg); readers != want[0] || writers != want[1] {
			t.Errorf("of %d connections %d read and %d write, want %v", connections, readers, writers, want)
		}
	}
}

// A call that waits holds 64 KiB outside the memory budget.
func TestCallsThatWaitForTheDatabaseAreBoundedByTheMemoryBudget(t *testing.T) {
	for budget, want := range map[config.Size]int{32 << 20: 1000, 128 << 20: 2048, 1 << 30: 16384} {
		var cfg config.Config
		cfg.Memory.Budget = budget
		if got := app.DatabaseWaiting(&cfg); got != want {
			t.Errorf("with a budget of %d octets %d may wait, want %d", budget, got, want)
		}
	}
}

// An empty database beside a secret is refused, on either engine, and with database.start_empty it is said what that means. The next start
// finds the database in use, and says nothing.
func TestEmptyDatabaseBesideASecretIsReported(t *testing.T) {
	run := func(t *testing.T, url string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "secret.key"), []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))), 0o600); err != nil {
			t.Fatal(err)
		}
		start := func(set map[string]string) (log string, err error) {
			t.Helper()
			maps.Copy(set, map[string]string{"http.addr": "127.0.0.1:0", "smtp.addr": "127.0.0.1:0", "data_dir": dir, "dns.resolver": "127.0.0.1:1"})
			if url != "" {
				maps.Copy(set, map[string]string{"database.url": url, "secrets.key": base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))})
			}
			cfg, err := config.Load("", nil, set)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			a, err := app.New(t.Context(), cfg, app.Options{Logger: slog.New(slog.NewTextHandler(&text, nil))})
			if err == nil {
				err = a.Close()
			}
			return text.String(), err
		}
		const warning = "beginning with an empty database"
		if _, err := start(map[string]string{}); err == nil || !strings.Contains(err.Error(), "secret.key of a service") {
			t.Errorf("start beside a secret.key: error %v, want one that names the secret.key of a service", err)
		}
		if log, err := start(map[string]string{"database.start_empty": "true"}); err != nil || !strings.Contains(log, warning) || !strings.Contains(log, "secret.key") {
			t.Errorf("start with database.start_empty: error %v, want none, and a warning %q that names secret.key in the log\n%s", err, warning, log)
		}
		if log, err := start(map[string]string{"database.start_empty": "true"}); err != nil || strings.Contains(log, warning) {
			t.Errorf("second start with database.start_empty: error %v, want none, and no warning %q in the log\n%s", err, warning, log)
		}
	}
	t.Run("sqlite", func(t *testing.T) { run(t, "") })
	t.Run("postgres", func(t *testing.T) { run(t, dbtest.EmptyPostgresURL(t)) })
}
