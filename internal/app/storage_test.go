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
