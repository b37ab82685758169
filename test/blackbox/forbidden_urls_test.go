package blackbox_test

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// forbiddenURLs are those of the table of package netguard that JSON can carry.
func forbiddenURLs(t testing.TB) (all []string) {
	t.Helper()
	file, err := os.Open("../../internal/netguard/testdata/forbidden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		rule, quoted, ok := strings.Cut(lines.Text(), " ")
		if !ok || rule == "#" {
			continue
		}
		url, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("unquote the line %s: %v", lines.Text(), err)
		}
		if utf8.ValidString(url) && url != "" {
			all = append(all, url)
		}
	}
	if len(all) < 140 {
		t.Fatalf("only %d URLs were read, want at least 140", len(all))
	}
	return all
}

// Each form is refused when an endpoint is created and when it is changed, with a detail that repeats nothing of it.
// The names in them that exist resolve to public addresses.
func TestForbiddenWebhookURLs(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	for _, name := range []string{"example.com", "example.org", "a.example.com", "xn--bcher-kva.example.com"} {
		names.put(name + ". 60 IN A 93.184.216.34")
	}
	s := startAccounts(t, settings{"dns.resolver": names.addr})
	u := s.account("ada@example.org")
	inside := startAccounts(t, settings{"dns.resolver": names.addr, "webhooks.allow_networks": "127.77.0.0/16"})
	v := inside.account("ada@example.org")
	a := inside.Call(http.MethodPost, "/me/webhooks", v.Token, fields{"url": "https://127.77.0.1:8443/", "events": []string{"message.received"}})
	var made struct{ ID string }
	if a.Status != http.StatusCreated {
		t.Fatalf("POST /me/webhooks with an address that the exception allows: %d %s, want %d", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(t, &made)
	for _, url := range forbiddenURLs(t) {
		a := s.Call(http.MethodPost, "/me/webhooks", u.Token, fields{"url": url, "events": []string{"message.received"}})
		want(t, a, 422, "webhook.url_forbidden")
		if detail := problemOf(t, a).Detail; detail == "" || strings.Contains(detail, "93.184") || len(url) > 12 && strings.Contains(detail, url) {
			t.Errorf("POST /me/webhooks with %q = %s, want a detail that repeats neither the URL nor an address", url, a.Body)
		}
		a = inside.Call(http.MethodPatch, "/me/webhooks/"+made.ID, v.Token, fields{"url": url})
		want(t, a, 422, "webhook.url_forbidden")
		if t.Failed() {
			t.Fatalf("the failures above are of the URL %q, want it refused", url)
		}
	}
	if got := get[[]struct{ URL string }](s, "/me/webhooks", u.Token); len(got) != 0 {
		t.Errorf("GET /me/webhooks = %v, want none of the refused ones", got)
	}
	if got := get[[]struct{ URL string }](inside, "/me/webhooks", v.Token); len(got) != 1 || got[0].URL != "https://127.77.0.1:8443/" {
		t.Errorf("GET /me/webhooks = %v, want the one endpoint with its first URL", got)
	}
}

// A name that resolves to an allowed address at registration and to a private one later is not connected to.
func TestDNSRebindingReachesNoPrivateAddress(t *testing.T) {
	t.Parallel()
	elsewhere, err := net.Listen("tcp", "127.78.0.1:8443")
	if err != nil {
		t.Skipf("no second loopback address here: %v", err)
	}
	reached := make(chan string, 16)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := elsewhere.Accept()
			if err != nil {
				return
			}
			reached <- conn.RemoteAddr().String()
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = elsewhere.Close(); <-done })

	names := startNameServer(t)
	names.put("hooks.example.net. 1 IN A 127.77.0.1")
	s := startAccounts(t, settings{"dns.resolver": names.addr, "webhooks.allow_networks": "127.77.0.0/16"})
	u := s.account("ada@example.org")
	a := s.Call(http.MethodPost, "/me/webhooks", u.Token, fields{"url": "https://hooks.example.net:8443/", "events": []string{"message.received"}})
	var made struct{ ID string }
	if a.Status != http.StatusCreated {
		t.Fatalf("POST /me/webhooks with https://hooks.example.net:8443/: %d %s, want %d", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(t, &made)
	attempts := func() []struct{ Error string } {
		return get[[]struct{ Error string }](s, "/me/webhooks/"+made.ID+"/deliveries", u.Token)
	}
	eventually(t, "the ping is tried", func() bool { return len(attempts()) == 1 })
	names.put("hooks.example.net. 1 IN A 127.78.0.1")
	s.Clock.Advance(5 * time.Minute)
	eventually(t, "it is tried again", func() bool { return len(attempts()) >= 2 })
	if got := attempts()[0].Error; got != "the host must be at public addresses alone" {
		t.Errorf("the error of the attempt is %q, want the host must be at public addresses alone", got)
	}
	select {
	case from := <-reached:
		t.Errorf("the private address was reached from %s, want it never dialled", from)
	default:
	}
}
