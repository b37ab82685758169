package system_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// dialFrom opens connections from a loopback address. Those that are not accepted yet wait in the kernel's queue.
func dialFrom(t *testing.T, from, to string, n int) {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	for range n {
		conn, err := d.DialContext(t.Context(), "tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
}

// statusFrom is the status of a request on a connection of its own from a loopback address, 0 if there is no answer.
func statusFrom(t *testing.T, from, method, url string) int {
	t.Helper()
	client := apptest.ClientFrom(from)
	client.Timeout = patience
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Logf("%s %s from %s: %v", method, url, from, err)
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

// An address that opens as many connections as there are descriptors, over HTTP and SMTP, blocks neither probes, from
// any address, nor other addresses.
func TestProbesAnswerWhileOneAddressExhaustsDescriptors(t *testing.T) {
	s := start(t, options{
		wrap: []string{need(t, "prlimit"), "--nofile=160:160"},
		set:  map[string]string{"limits.http_connections": "200", "limits.smtp_connections": "100"},
	})
	dialFrom(t, "127.0.0.3", s.smtp, 150)
	dialFrom(t, "127.0.0.3", s.http, 250)
	for range 20 {
		for _, from := range []string{"127.0.0.3", "127.0.0.4"} {
			for _, path := range []string{"/healthz", "/readyz"} {
				if status := statusFrom(t, from, http.MethodGet, "http://"+s.http+path); status != http.StatusOK {
					t.Fatalf("%s from %s: %d, want %v", path, from, status, http.StatusOK)
				}
			}
		}
		if status := statusFrom(t, "127.0.0.4", http.MethodPost, s.url+"/mailboxes"); status != http.StatusCreated {
			t.Fatalf("a mailbox of another address: %d, want %v", status, http.StatusCreated)
		}
	}
	box := s.newMailbox()
	wantReply(t, "a mail of another address", send(t, s.smtp, sampleMail("hello", "hello"), box.Address), "250")
}
