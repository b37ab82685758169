package app_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/config"
)

func TestReadinessDoesNotWaitForTheLexicon(t *testing.T) {
	loading, load := make(chan struct{}), make(chan struct{})
	s := apptest.Start(t, apptest.Options{App: app.Options{Warm: func() error {
		close(loading)
		<-load
		return nil
	}}})
	defer close(load)
	<-loading
	if a := s.Call(http.MethodGet, "/readyz", "", nil); a.Status != http.StatusOK {
		t.Errorf("GET /readyz while the lexicon is being loaded: %d %s, want 200", a.Status, a.Body)
	}
}

func TestDamagedLexiconStopsTheService(t *testing.T) {
	cfg, err := config.Load("", nil, map[string]string{"data_dir": t.TempDir(), "http.addr": "127.0.0.1:0", "smtp.addr": "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	damaged := errors.New("a phrase has no closing brace")
	a, err := app.New(t.Context(), cfg, app.Options{Warm: func() error { return damaged }})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Run(t.Context()); !errors.Is(err, damaged) {
		t.Errorf("Run with a lexicon that cannot be loaded = %v, want an error that wraps %q", err, damaged)
	}
}
