package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// shellUser is a person at a shell with a configuration folder of their own.
type shellUser struct {
	*apptest.Service
	t    *testing.T
	home string
}

func newUser(t *testing.T) *shellUser {
	return &shellUser{Service: apptest.Start(t, apptest.Options{RealClock: true}), t: t, home: t.TempDir()}
}

func (u *shellUser) run(line string) outcome {
	u.t.Helper()
	return gonebox(u.t, line, "HOME="+u.home, "GONEBOX_URL="+strings.TrimSuffix(u.URL, "/api/v1"))
}

// out runs a command that must succeed and returns its output.
func (u *shellUser) out(line string) string {
	u.t.Helper()
	got := u.run(line)
	if got.code != exitOK || got.err != "" {
		u.t.Fatalf(`gonebox %s: %+v, want code %v and err ""`, line, got, exitOK)
	}
	return got.out
}

func (u *shellUser) send(to, flags string) {
	u.t.Helper()
	u.out("send --server " + u.SMTP + " --to " + to + " " + flags)
}

// A mail that is there before the mailbox's command waits, and one that comes meanwhile.
func TestInboxCodeWaitsInNewMailbox(t *testing.T) {
	u := newUser(t)
	done := make(chan outcome)
	go func() { done <- u.run("inbox code --new --timeout 60s") }()
	var kept []inboxRow
	for deadline := time.Now().Add(time.Minute); len(kept) == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := json.Unmarshal([]byte(u.out("inbox list --mailboxes --json")), &kept); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) == 0 {
		t.Fatalf("gonebox inbox code --new kept no token and ended with %+v, want it to create a mailbox", <-done)
	}
	u.send(kept[0].Address, "--code 555666")
	if got := <-done; got.code != exitOK || got.out != kept[0].Address+"\n555666\n" || got.err != "" {
		t.Errorf("gonebox inbox code --new: %+v, want the address and the code 555666", got)
	}
}

// stored returns the file of a mailbox, "" if there is none.
func (u *shellUser) stored(address string) string {
	u.t.Helper()
	files, err := filepath.Glob(filepath.Join(u.home, ".config", "gonebox", "inbox", "*.json"))
	if err != nil {
		u.t.Fatal(err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), `"`+address+`"`) {
			return name
		}
	}
	return ""
}

// setExpiry changes when a mailbox expires as its file has it, which looks to a command like a clock that is wrong by as
// much, and returns its token.
func (u *shellUser) setExpiry(address string, at time.Time) string {
	u.t.Helper()
	name := u.stored(address)
	text, err := os.ReadFile(name)
	if err != nil {
		u.t.Fatalf("read the file of %s: %v", address, err)
	}
	var box map[string]any
	if err := json.Unmarshal(text, &box); err != nil {
		u.t.Fatalf("the file of %s is %s: %v", address, text, err)
	}
	box["expiresAt"] = at
	if text, err = json.Marshal(box); err != nil {
		u.t.Fatal(err)
	}
	writePrivate(u.t, name, string(text))
	return box["token"].(string)
}

// end destroys a mailbox with its token, without a command.
func (u *shellUser) end(token string) {
	u.t.Helper()
	r, err := http.NewRequestWithContext(u.t.Context(), http.MethodDelete, u.URL+"/mailboxes/me", nil)
	if err != nil {
		u.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		u.t.Fatalf("DELETE /mailboxes/me: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		u.t.Fatalf("DELETE /mailboxes/me: got %s, want 204", response.Status)
	}
}

// The clock of the user's machine may be ahead by any amount: only the service ends a mailbox.
func TestInboxKeepsMailboxWhoseServiceSaysItLives(t *testing.T) {
	u := newUser(t)
	address := strings.TrimSpace(u.out("inbox new"))
	u.send(address, "--code 121212")
	for _, line := range []string{"inbox code", "inbox show", "inbox list", "inbox list --mailboxes", "inbox code " + address, "inbox new --name other"} {
		u.setExpiry(address, time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))
		got := u.out(line)
		if !strings.Contains(got, "121212") && !strings.Contains(got, address) && !strings.Contains(got, "other@") {
			t.Errorf("gonebox %s: got %q, want the mailbox %s or its code", line, got, address)
		}
		if u.stored(address) == "" {
			t.Fatalf("gonebox %s forgot the token of %s, want it kept while the mailbox lives", line, address)
		}
	}
	if got := u.out("inbox list --mailboxes"); strings.Contains(got, "2020-") {
		t.Errorf("gonebox inbox list --mailboxes: got\n%s\nwant the expiry that the service has", got)
	}
}

func TestInboxForgetsMailboxThatEnded(t *testing.T) {
	past, future := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2090, 1, 2, 3, 4, 5, 0, time.UTC)
	u := newUser(t)
	older := strings.TrimSpace(u.out("inbox new --name older-lamp"))
	newer := strings.TrimSpace(u.out("inbox new --name newer-lamp"))
	u.send(older, "--code 343434")
	u.end(u.setExpiry(newer, past))
	if got := u.out("inbox code"); got != "343434\n" {
		t.Errorf("gonebox inbox code: got %q, want the code of the newest mailbox that lives, 343434", got)
	}
	if u.stored(newer) != "" {
		t.Errorf("gonebox inbox code kept the token of %s, want it forgotten, since its service said that the mailbox has ended", newer)
	}
	// A clock that is behind: the command learns from its call.
	u.end(u.setExpiry(older, future))
	u.run("inbox list").wantError(t, "inbox list", exitFailure, older+" has ended")
	u.run("inbox list").wantError(t, "inbox list", exitFailure, "there is no mailbox")
}

// What is not the service's own answer, such as the page of a hotel's network, ends no mailbox.
func TestInboxKeepsMailboxWhenAProxyAnswers(t *testing.T) {
	u := newUser(t)
	address := strings.TrimSpace(u.out("inbox new"))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "sign in first", http.StatusGone) }))
	defer proxy.Close()
	name := u.stored(address)
	u.setExpiry(address, time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	writePrivate(t, name, strings.ReplaceAll(string(text), strings.TrimSuffix(u.URL, "/api/v1"), proxy.URL))
	gonebox(t, "inbox list", "HOME="+u.home).wantError(t, "inbox list", exitFailure, "not as Gonebox does")
	if u.stored(address) == "" {
		t.Errorf("gonebox inbox list forgot the token of %s after the answer of a proxy, want it kept", address)
	}
}
