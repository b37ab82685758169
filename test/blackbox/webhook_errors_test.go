package blackbox_test

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// accept listens on a loopback address of its own, on a port that webhooks may use, passes every connection to h and
// returns the URL.
func accept(t *testing.T, h func(net.Conn)) string {
	t.Helper()
	for tries := 50; ; tries-- {
		var b [3]byte
		rand.Read(b[:]) // never fails, as crypto/rand documents
		l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:8443", b[0], b[1], b[2]|1))
		if err != nil {
			if tries == 0 {
				t.Fatalf("no address of 127.0.0.0/8 is free at the port 8443: %v, want one", err)
			}
			continue
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				h(conn)
				_ = conn.Close()
			}
		}()
		return "https://" + l.Addr().String() + "/"
	}
}

// reset closes a connection with RST.
func reset(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }

// wantNoAddress fails the test if a text contains an address or a port.
func wantNoAddress(t *testing.T, what, text string) {
	t.Helper()
	if text == "" || regexp.MustCompile(`\d+\.\d+\.\d+\.\d+|:\d|\d:|\b8443\b|->`).MatchString(text) {
		t.Errorf("%s: the error of the attempt is %q, want a text without addresses and ports", what, text)
	}
}

// The error of a failed delivery names neither our address and port nor the endpoint's.
func TestDeliveryErrorsNameNoAddress(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(settings{"webhooks.timeout": "5s"}))
	u := s.account("ada@example.org")
	cut := authority.NewReceiver(t)
	cut.Answer(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		plain := conn.(*tls.Conn).NetConn() // which says no farewell
		reset(plain)
		_ = plain.Close()
	})
	gone := authority.NewReceiver(t)
	gone.Close()
	strange := httptest.NewTLSServer(nil) // signed by an authority that the service does not trust, and for another address
	t.Cleanup(strange.Close)
	for what, c := range map[string]struct{ url, says string }{
		"refused connection":   {gone.URL, "connection refused"},
		"reset after the body": {cut.URL, "reset"},
		"reset at once":        {accept(t, reset), "reset"},
		"closed at once":       {accept(t, func(net.Conn) {}), "the endpoint"},
		"no TLS": {accept(t, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_, _ = io.CopyN(io.Discard, c, 1)
		}), "TLS"},
		"a strange certificate": {accept(t, func(c net.Conn) {
			server := tls.Server(c, strange.TLS)
			_ = server.Handshake()
		}), "certificate"},
		"silence": {accept(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "no answer within 5s"},
		"no TLS version": {accept(t, func(c net.Conn) {
			_ = tls.Server(c, &tls.Config{Certificates: strange.TLS.Certificates, MaxVersion: tls.VersionTLS11}).Handshake()
		}), "tls"},
	} {
		h := s.register(u, fields{"url": c.url, "events": []string{"webhook.ping"}})
		got := s.attempted(u, h, 1)[0]
		wantNoAddress(t, what, text(got.Error))
		if got.Outcome != "failed" || !strings.Contains(strings.ToLower(text(got.Error)), strings.ToLower(c.says)) {
			t.Errorf("%s: the error of the attempt is %q, want %q in it", what, text(got.Error), c.says)
		}
		s.call(http.MethodDelete, "/me/webhooks/"+h.ID, u.Token, 204, "")
	}
}
