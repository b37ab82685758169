package app_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
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
		t.Errorf("New = %v", err)
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
