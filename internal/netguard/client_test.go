package netguard_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/netguard"
)

// The tests run with a proxy in the environment that does not exist: a client that used it would fail.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		if err := os.Setenv(name, "http://127.0.0.1:9"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// endpoint is a server on loopback under the name example.com, and the options of a guard that may reach it.
type endpoint struct {
	*httptest.Server
	netguard.Options
	clock *clock.Fake
	url   string
}

func serve(t testing.TB, http2 bool, h http.HandlerFunc, change func(*httptest.Server)) *endpoint {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if change != nil {
		change(s)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	port := s.Listener.Addr().(*net.TCPAddr).Port
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	e := &endpoint{Server: s, clock: clock.NewFake(time.Unix(1_800_000_000, 0)), url: "https://example.com:" + strconv.Itoa(port) + "/"}
	e.Options = netguard.Options{
		Resolver: names{other: netip.MustParseAddr("127.0.0.1")}, Clock: e.clock, RootCAs: roots,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []uint16{uint16(port)},
	}
	return e
}

func (e *endpoint) guard(t testing.TB) *netguard.Guard {
	g := netguard.New(e.Options)
	t.Cleanup(g.Close)
	return g
}

// answer posts, and reads the response to its end.
func answer(t *testing.T, c *http.Client, url string) (*http.Response, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"type":"webhook.ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	return a, body, err
}

// both runs a test over each version of HTTP.
func both(t *testing.T, test func(t *testing.T, http2 bool)) {
	t.Run("HTTP/1.1", func(t *testing.T) { test(t, false) })
	t.Run("HTTP/2", func(t *testing.T) { test(t, true) })
}

func TestRequestsArriveAndAreAnswered(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		e := serve(t, http2, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(r.Proto + " " + r.Host + " " + string(body)))
		}, nil)
		a, body, err := answer(t, e.guard(t).Client(), e.url)
		if err != nil || a.StatusCode != http.StatusAccepted {
			t.Fatalf("the answer is %v, %v, want the status 202", a, err)
		}
		proto := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[http2]
		if want := proto + " " + strings.TrimSuffix(strings.TrimPrefix(e.url, "https://"), "/") + ` {"type":"webhook.ping"}`; string(body) != want {
			t.Errorf("the request arrived as %s, want %s", body, want)
		}
	})
}

// Connections are used again, and not for ever: DNS may have changed, and so may the checks.
func TestConnectionsAreKeptForABoundedTime(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		from, closed := make(chan string, 1), make(chan string, 8)
		e := serve(t, http2, func(_ http.ResponseWriter, r *http.Request) { from <- r.RemoteAddr }, func(s *httptest.Server) {
			s.Config.ConnState = func(c net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					closed <- c.RemoteAddr().String()
				}
			}
		})
		g := e.guard(t)
		call := func() string {
			t.Helper()
			if _, _, err := answer(t, g.Client(), e.url); err != nil {
				t.Fatal(err)
			}
			return <-from
		}
		first := call()
		e.clock.Advance(netguard.AgeMax - time.Second)
		if again := call(); again != first {
			t.Errorf("the second request came from %s, want the connection %s of the first", again, first)
		}
		e.clock.Advance(time.Second)
		if later := call(); later == first {
			t.Errorf("a request after AgeMax came from %s, want another connection than the first", later)
		}
		if http2 { // its streams end a moment after their responses: then the connection is closed for idling
			return
		}
		select {
		case gone := <-closed:
			if gone != first {
				t.Errorf("the connection %s was closed, want the first, %s", gone, first)
			}
		case <-time.After(20 * time.Second): // long before it would be closed for idling
			t.Error("the first connection was not closed within 20 s of its end, want it closed")
		}
	})
}

func TestAHostThatMovedIsLostWithItsConnection(t *testing.T) {
	e := serve(t, true, func(http.ResponseWriter, *http.Request) {}, nil)
	known := map[string][]netip.Addr{"example.com": addrs("127.0.0.1")}
	e.Resolver = names{known: known}
	g := e.guard(t)
	if _, _, err := answer(t, g.Client(), e.url); err != nil {
		t.Fatal(err)
	}
	known["example.com"] = addrs("127.0.0.2")
	e.clock.Advance(netguard.AgeMax)
	if _, _, err := answer(t, g.Client(), e.url); refused(t, err) != netguard.RuleAddress {
		t.Errorf("a redirect to a forbidden address: %v, want it refused for its address", err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		calls := 0
		e := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
			calls++
			http.Redirect(w, r, "https://169.254.169.254/latest/meta-data/", status)
		}, nil)
		a, _, err := answer(t, e.guard(t).Client(), e.url)
		if err != nil || a.StatusCode != status || calls != 1 {
			t.Errorf("a redirect with %d: answer %v after %d calls, %v, want that answer after one call", status, a, calls, err)
		}
	}
}

func TestAnswersAreCutAtTheLimit(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		for _, c := range []struct{ limit, sent, read int }{
			{0, 0, 0}, {0, 64 << 10, 64 << 10}, {0, 64<<10 + 1, 64 << 10}, {0, 8 << 20, 64 << 10}, {100, 99, 99}, {100, 100, 100}, {100, 1 << 20, 100},
		} {
			e := serve(t, http2, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, c.sent)) }, nil)
			e.ResponseMax = int64(c.limit)
			_, body, err := answer(t, e.guard(t).Client(), e.url)
			if err != nil || len(body) != c.read {
				t.Errorf("limit %d, %d sent: %d read, %v, want %v", c.limit, c.sent, len(body), err, c.read)
			}
		}
	})
}

func TestAnswersAreNotUnpacked(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 16<<20)); err != nil || z.Close() != nil {
		t.Fatalf("write and close the compressed stream: %v, want no error", err)
	}
	both(t, func(t *testing.T, http2 bool) {
		e := serve(t, http2, func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Accept-Encoding"); got != "" {
				t.Errorf("the request has Accept-Encoding %q, want none", got)
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, nil)
		_, body, err := answer(t, e.guard(t).Client(), e.url)
		if err != nil || !bytes.Equal(body, bomb.Bytes()[:min(bomb.Len(), 64<<10)]) {
			t.Errorf("the body has %d octets, %v, want the first %d of the %d that were sent, still packed", len(body), err, min(bomb.Len(), 64<<10), bomb.Len())
		}
	})
}

// A server that says nothing, or says something and then nothing, costs no more than the time for an exchange.
func TestSlowAnswersEnd(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		for what, begin := range map[string]func(http.ResponseWriter){
			"nothing": func(http.ResponseWriter) {},
			"fields":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
			"octets":  func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) },
		} {
			e := serve(t, http2, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				begin(w)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				panic(http.ErrAbortHandler) // an orderly end could still arrive
			}, nil)
			e.Timeout = 200 * time.Millisecond
			_, _, err := answer(t, e.guard(t).Client(), e.url)
			if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
				t.Errorf("%s: %v, want a timeout", what, err)
			}
		}
	})
}

func TestHeadersOfAnswersAreBounded(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		for size, fits := range map[int]bool{8 << 10: true, 64 << 10: false} {
			e := serve(t, http2, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("x", size)) }, nil)
			if _, _, err := answer(t, e.guard(t).Client(), e.url); (err == nil) != fits {
				t.Errorf("a header of %d octets: %v, want success: %t", size, err, fits)
			}
		}
	})
}

func TestEndlessInformationalAnswersEnd(t *testing.T) {
	e := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Header().Set("Link", strings.Repeat("x", 1<<10))
			w.WriteHeader(http.StatusEarlyHints)
		}
	}, nil)
	if _, _, err := answer(t, e.guard(t).Client(), e.url); err == nil {
		t.Error("endless informational answers ended in an answer, want an error")
	}
}

func TestNoCookiesAreKept(t *testing.T) {
	e := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		if len(r.Cookies()) > 0 {
			t.Errorf("the request has the cookies %v, want none", r.Cookies())
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
	}, nil)
	c := e.guard(t).Client()
	for range 2 {
		if _, _, err := answer(t, c, e.url); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	for what, c := range map[string]struct {
		host   string
		change func(*endpoint)
		server func(*httptest.Server)
	}{
		"another's name": {host: "example.net"},
		"unknown issuer": {host: "example.com", change: func(e *endpoint) { e.RootCAs = x509.NewCertPool() }},
		"TLS 1.1": {host: "example.com", server: func(s *httptest.Server) {
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		}},
	} {
		e := serve(t, true, func(http.ResponseWriter, *http.Request) {
			t.Errorf("%s: a request arrived, want the connection refused before", what)
		}, c.server)
		if c.change != nil {
			c.change(e)
		}
		if _, _, err := answer(t, e.guard(t).Client(), strings.Replace(e.url, "example.com", c.host, 1)); err == nil {
			t.Errorf("%s: answered, want an error", what)
		}
	}
}

func TestAnAddressThatRefusesLeavesTheNext(t *testing.T) {
	e := serve(t, true, func(http.ResponseWriter, *http.Request) {}, nil)
	e.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	e.Resolver = names{other: netip.MustParseAddr("127.0.0.1"), known: map[string][]netip.Addr{"example.com": addrs("127.77.7.7", "127.0.0.1")}}
	if _, _, err := answer(t, e.guard(t).Client(), e.url); err != nil {
		t.Error(err)
	}
}

// With Plain, http and any port are for the allowed networks alone, and metadata services stay forbidden even there.
func TestPlainReachesAllowedNetworksAlone(t *testing.T) {
	g := netguard.New(netguard.Options{
		Resolver: names{
			known: map[string][]netip.Addr{"app": addrs("10.0.0.7"), "mixed.example.com": addrs("10.0.0.7", "93.184.216.34"), "metadata.google.internal": addrs("169.254.169.254")},
			other: public,
		},
		Allow: []netip.Prefix{
			netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"),
			netip.MustParsePrefix("169.254.0.0/16"),
		},
		Plain: true,
	})
	for url, ok := range map[string]bool{
		"http://127.0.0.1:3000/": true, "http://localhost/": true, "http://app.localhost:1/": true, "http://app:9000/": true, "http://[::1]:3000/": true,
		"http://[fd12::1]/": true, "https://10.0.0.7:444/": true, "https://example.com/": true, "https://example.com:8443/": true,
		"http://example.com/": false, "https://example.com:444/": false, "http://example.com:443/": false, "http://mixed.example.com/": false,
		"http://169.254.169.254/": false, "https://169.254.169.254/": false, "http://metadata.google.internal/": false, "http://[fd00:ec2::254]/": false,
		"http://0.0.0.0/": false, "http://[fe80::1]/": false, "ftp://127.0.0.1/": false, "http://2130706433/": false,
	} {
		if err := g.CheckURL(t.Context(), url); (err == nil) != ok {
			t.Errorf("CheckURL(%s) = %v, want success: %t", url, err, ok)
		}
		if !ok {
			if _, _, err := answer(t, g.Client(), url); err == nil {
				t.Errorf("%s was reached, want an error", url)
			}
		}
	}
}
