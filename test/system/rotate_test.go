package system_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/token"
)

// Two rotations beside the running service, then one of a configured secret: tokens from before each stay valid, second factors
// work throughout, and without the earlier secrets only tokens from after the last rotation are left.
func TestRotatedSecretKeepsTokensAndSecondFactors(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: movedSettings()})
	w := newSample(t, s)
	w.account()
	first := s.newMailbox()
	for range 2 {
		code, out, text := command(t, "secret", "rotate", "--data-dir", s.dir)
		if code != 0 || !strings.HasPrefix(out, "Rotated the master secret.") {
			t.Fatalf(`status %d, %q, %s, want 0 and beginning with "Rotated the master secret."`, code, out, text)
		}
	}
	earlier := filepath.Join(s.dir, token.PreviousFile)
	kept, err := os.ReadFile(earlier)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(box mailbox, status int) {
		t.Helper()
		if got, text := s.call(http.MethodGet, "/mailboxes/me", box.Token, nil); got != status {
			t.Errorf("a token: %d %s, want %d", got, text, status)
		}
	}
	valid(first, http.StatusOK)
	w.signsIn(s)
	if err := os.Rename(earlier, earlier+".aside"); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of the first token", func() bool {
		status, _ := s.call(http.MethodGet, "/mailboxes/me", first.Token, nil)
		return status == http.StatusUnauthorized
	})
	second := s.newMailbox() // signed with the third secret
	if err := os.Rename(earlier+".aside", earlier); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s.restart()
	valid(first, http.StatusOK)
	valid(second, http.StatusOK)

	key := w.secret(filepath.Join(s.dir, token.MasterFile))
	previous := strings.Join(strings.Fields(string(kept)), ",")
	code, out, text := command(t, "secret", "rotate", "--json", "--data-dir", s.dir, "--set", "secrets.key="+key, "--set", "secrets.previous="+previous)
	var next struct {
		Rotated       bool
		Key, Previous string
	}
	if err := json.Unmarshal([]byte(out), &next); err != nil || code != 0 || next.Rotated || next.Previous != key+","+previous || next.Key == key {
		t.Fatalf("gonebox secret rotate: exit status %d, want 0, another key, and the earlier ones as previous:\n%s%s", code, out, text)
	}
	s.stop()
	s.o.set["secrets.key"], s.o.set["secrets.previous"] = next.Key, next.Previous
	s.restart()
	valid(first, http.StatusOK)
	valid(second, http.StatusOK)
	third := s.newMailbox()
	s.stop()
	s.o.set["secrets.previous"] = ""
	s.restart()
	valid(first, http.StatusUnauthorized)
	valid(second, http.StatusUnauthorized)
	valid(third, http.StatusOK)
	body := map[string]string{"email": "ada@example.org", "password": "correct horse", "code": w.recovery[1]}
	if status, text := s.call(http.MethodPost, "/auth/token", "", body); status != http.StatusOK {
		t.Errorf("sign in after the rotations: %d %s, want %v", status, text, http.StatusOK)
	}
}

func TestLostSecretStopsTheServiceUntilItIsGivenUp(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{}})
	before := s.newMailbox()
	s.stop()
	if err := os.Remove(filepath.Join(s.dir, token.MasterFile)); err != nil {
		t.Fatal(err)
	}
	code, _, text := command(t, s.arguments()...)
	if code != 1 || !strings.Contains(text, "gonebox secret rotate --lost") {
		t.Fatalf(`the start without the secret: status %d, %s, want 1 and "gonebox secret rotate --lost" in it`, code, text)
	}
	if code, out, text := command(t, "secret", "rotate", "--lost", "--data-dir", s.dir); code != 0 {
		t.Fatalf("status %d, %s%s, want 0", code, out, text)
	}
	if code, _, text := command(t, "secret", "rotate", "--lost", "--data-dir", s.dir); code != 1 || !strings.Contains(text, "is not lost") {
		t.Errorf(`again: status %d, %s, want 1 and "is not lost" in it`, code, text)
	}
	s.restart()
	if status, _ := s.call(http.MethodGet, "/mailboxes/me", before.Token, nil); status != http.StatusUnauthorized {
		t.Errorf("a token from before: %d, want %v", status, http.StatusUnauthorized)
	}
	s.newMailbox()
}
