package system_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
)

// events opens an event stream and returns the data of its end, "" if it closed without one, once it has closed.
func (a api) events(path, token string) (end <-chan string) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	a.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		a.t.Fatalf("GET %s: %d, want %d", path, res.StatusCode, http.StatusOK)
	}
	closed := make(chan string, 1)
	go func() {
		defer res.Body.Close()
		data, named := "", false
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && named {
				data = text
			}
			named = lines.Text() == "event: end"
		}
		closed <- data
	}()
	return closed
}

// The command is a process of its own, which cannot wake the streams of the service.
func TestStreamsEndAfterTheCommandThatDisablesTheirAccount(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	const email = "ada@example.org"
	status, text := s.call(http.MethodPost, "/auth/register", "", map[string]string{"email": email, "password": userPassword})
	if status != http.StatusCreated {
		t.Fatalf("register: %d %s, want %v", status, text, http.StatusCreated)
	}
	token := decode[struct{ Token string }](t, text).Token
	status, text = s.call(http.MethodPost, "/me/api-keys", token, map[string]any{"name": "test", "scopes": []string{"messages:read"}})
	if status != http.StatusCreated {
		t.Fatalf("create a key: %d %s, want %v", status, text, http.StatusCreated)
	}
	key := decode[struct{ Key string }](t, text).Key
	status, text = s.call(http.MethodPost, "/mailboxes", token, map[string]any{})
	if status != http.StatusCreated {
		t.Fatalf("create a mailbox: %d %s, want %v", status, text, http.StatusCreated)
	}
	box := decode[mailbox](t, text)
	streams := map[string]<-chan string{
		"account": s.events("/me/events", token), "key": s.events("/keys/events", key), "mailbox": s.events("/mailboxes/me/events", box.Token),
	}
	other := s.events("/mailboxes/me/events", s.newMailbox().Token)
	stop := s.keepReading(box.Token)
	code, _, fault := command(t, "user", "disable", email, "--data-dir", s.dir)
	if code != 0 {
		t.Fatalf("gonebox user disable: %s, want 0", fault)
	}
	if status, text := s.call(http.MethodGet, "/mailboxes/me/messages", box.Token, nil); status != http.StatusUnauthorized {
		t.Errorf("after the command: %d %s, want %v", status, text, http.StatusUnauthorized)
	}
	stop()
	for name, end := range streams {
		if data := <-end; data != `{"reason":"destroyed"}` {
			t.Errorf(`the stream of the %s ended with %q, want "{\"reason\":\"destroyed\"}"`, name, data)
		}
	}
	select {
	case data := <-other:
		t.Errorf("the stream of a guest ended with %q, want it open", data)
	default:
	}
}
