package blackbox_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// open opens HTTP connections from a loopback address and sends nothing on them.
func (s *service) open(from string, n int) (all []net.Conn) {
	s.t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	for range n {
		conn, err := d.DialContext(s.t.Context(), "tcp", u.Host)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { conn.Close() })
		all = append(all, conn)
	}
	return all
}

// calledFrom makes a request to the first process, on a connection of its own from a loopback address.
func (s *service) calledFrom(address, method, url string) (status int, problem string, h http.Header) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := apptest.ClientFrom(address).Do(r)
	if err != nil {
		s.t.Fatalf("%s %s from %s: %v", method, url, address, err)
	}
	defer res.Body.Close()
	text := make([]byte, 4096)
	n, _ := res.Body.Read(text)
	return res.StatusCode, apptest.Response{Body: text[:n]}.Code(), res.Header
}

func TestConnectionsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	const most = 40
	s := start(t, settings{"limits.http_connections": fmt.Sprint(most)})
	root := strings.TrimSuffix(s.URL, "/api/v1")
	s.open("127.0.0.3", most+100)

	// An answer shows that the connections opened before have been accepted.
	until(t, "the limit is reached", func() bool {
		status, code, h := s.calledFrom("127.0.0.3", http.MethodGet, s.URL+"/domains")
		if status == 200 {
			return false
		}
		if status != 429 || code != "rate.limited" || h.Get("Retry-After") != "1" {
			t.Fatalf(`s.calledFrom("127.0.0.3", GET, s.URL+"/domains") = %d %s, %v, want 429, "rate.limited" and Retry-After "1"`, status, code, h)
		}
		return true
	})
	for _, path := range []string{root + "/healthz", root + "/readyz", s.URL + "/healthz", s.URL + "/readyz"} {
		if status, code, _ := s.calledFrom("127.0.0.3", http.MethodGet, path); status != 200 {
			t.Errorf(`%s: s.calledFrom("127.0.0.3", GET, path) = %d %s, want 200`, path, status, code)
		}
	}
	if status, _, _ := s.calledFrom("127.0.0.3", http.MethodGet, root+"/docs"); status != 429 {
		t.Errorf("a page: %d, want 429", status)
	}
	if status, _, _ := s.calledFrom("127.0.0.4", http.MethodPost, s.URL+"/mailboxes"); status != 201 {
		t.Errorf("another address: %d, want 201", status)
	}
}

func TestClosedConnectionIsNotCounted(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.http_connections": "40"})
	all := s.open("127.0.0.3", 40)
	until(t, "the limit is reached", func() bool {
		status, _, _ := s.calledFrom("127.0.0.3", http.MethodGet, s.URL+"/domains")
		return status == 429
	})
	all[0].Close()
	until(t, "it is free again", func() bool {
		status, _, _ := s.calledFrom("127.0.0.3", http.MethodGet, s.URL+"/domains")
		return status == 200
	})
}

func TestTrustedProxiesHaveNoConnectionLimit(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.http_connections": "40", "http.trusted_proxies": "127.0.0.3/32"})
	s.open("127.0.0.3", 100)
	for range 20 {
		if status, code, _ := s.calledFrom("127.0.0.3", http.MethodGet, s.URL+"/domains"); status != 200 {
			t.Fatalf(`s.calledFrom("127.0.0.3", GET, s.URL+"/domains") = %d %s, want 200`, status, code)
		}
	}
}
