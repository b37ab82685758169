package certificate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/certificate"
	"github.com/gonebox/gonebox/internal/clock"
)

// store writes a certificate to the folder in which an earlier run would have left the one that it obtained.
func store(t *testing.T, dir, host string) {
	t.Helper()
	cert, key := newPair(t, host)
	if err := os.WriteFile(filepath.Join(dir, host), append(key, cert...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// options are those of an ACME whose authority is at directory.
func options(t *testing.T, directory string, names ...string) certificate.Options {
	t.Helper()
	return certificate.Options{Names: names, Dir: t.TempDir(), Directory: directory, Clock: clock.System(), Logger: slog.New(slog.DiscardHandler)}
}

// unreachable is the directory of an authority that is never there.
const unreachable = "http://127.0.0.1:1/directory"

// handshake returns the name of the certificate that a client gets which sends a name, and the client's error.
func handshake(t *testing.T, get certificate.Getter, client *tls.Config) (string, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		defer theirs.Close()
		_ = tls.Server(theirs, certificate.Config(get)).HandshakeContext(t.Context())
	}()
	client.InsecureSkipVerify = true // only the name is tested
	conn := tls.Client(ours, client)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		return "", err
	}
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

func TestCertificateIsChosenByName(t *testing.T) {
	const web, mail = "box.example.org", "mx.example.org"
	o := options(t, unreachable, web, mail)
	store(t, o.Dir, web)
	store(t, o.Dir, mail)
	a := certificate.NewACME(o)
	a.Run(t.Context()) // returns, since nothing is missing
	const refused = "remote error: tls: unrecognized name"
	for _, c := range []struct{ sent, web, mail string }{
		{web, web, web},
		{mail, mail, mail},
		{"BOX.example.ORG", web, web},
		{"", web, mail},
		{"localhost", web, mail},
		{"other.example.org", refused, mail},
		{"box.example.org.evil.example", refused, mail},
		{"www.box.example.org", refused, mail},
	} {
		got, err := handshake(t, a.Get, &tls.Config{ServerName: c.sent})
		if err != nil {
			got = err.Error()
		}
		if got != c.web {
			t.Errorf("handshake with the name %q: got %q, want %q", c.sent, got, c.web)
		}
		if got, err := handshake(t, a.Mail(mail), &tls.Config{ServerName: c.sent}); got != c.mail {
			t.Errorf("handshake for mail with the name %q: got %q, %v, want %q", c.sent, got, err, c.mail)
		}
	}
	if got, err := handshake(t, a.Mail("elsewhere.example"), &tls.Config{ServerName: "elsewhere.example"}); got != web {
		t.Errorf("handshake for mail with a name that has no certificate: got %q, %v, want %q", got, err, web)
	}
}

// A client that accepts RSA alone must not have a second certificate ordered.
func TestClientCannotChooseTheKindOfKey(t *testing.T) {
	const host = "box.example.org"
	asked := make(chan string, 10)
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "not you", http.StatusForbidden)
	}))
	defer authority.Close()
	o := options(t, authority.URL, host)
	store(t, o.Dir, host)
	a := certificate.NewACME(o)
	a.Run(t.Context())
	rsa := &tls.Config{ServerName: host, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}
	if got, err := handshake(t, a.Get, rsa); err == nil {
		t.Errorf("handshake of a client with RSA alone: got the certificate %q, want an error", got)
	}
	if len(asked) != 0 {
		t.Errorf("the authority was asked for %s, want nothing", <-asked)
	}
}

// pauses is a clock that reports each timer after it has been made.
type pauses struct {
	*clock.Fake
	made chan time.Duration
}

func (p pauses) NewTimer(d time.Duration) *clock.Timer {
	timer := p.Fake.NewTimer(d)
	p.made <- d
	return timer
}

func TestFailedOrdersAreRare(t *testing.T) {
	forbidding := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not you", http.StatusForbidden)
	}))
	defer forbidding.Close()
	for name, c := range map[string]struct {
		directory string
		want      []time.Duration
	}{
		"the authority refuses":        {forbidding.URL, []time.Duration{5 * time.Minute, time.Hour, time.Hour}},
		"the authority is unreachable": {unreachable, []time.Duration{2 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			made := make(chan time.Duration)
			fake := clock.NewFake(time.Unix(0, 0))
			o := options(t, c.directory, "box.example.org")
			o.Clock = pauses{fake, made}
			a := certificate.NewACME(o)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); a.Run(ctx) }()
			var got []time.Duration
			for range c.want {
				pause := <-made
				got = append(got, pause)
				if len(got) < len(c.want) {
					fake.Advance(pause)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("Run: pauses %v, want %v", got, c.want)
			}
			// The first order has failed, so a handshake neither waits nor orders.
			if cert, err := a.Get(&tls.ClientHelloInfo{ServerName: "box.example.org"}); err == nil {
				t.Errorf("Get without a certificate = %v, want an error", cert)
			}
			stop()
			<-ended
		})
	}
}

func TestAuthorityIsTrustedByRoots(t *testing.T) {
	asked := make(chan string, 10)
	authority := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "not you", http.StatusForbidden)
	}))
	defer authority.Close()
	authority.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	for _, trusted := range []bool{false, true} {
		o := options(t, authority.URL+"/directory", "box.example.org")
		if trusted {
			o.Roots = x509.NewCertPool()
			o.Roots.AddCert(authority.Certificate())
		}
		made := make(chan time.Duration, 1)
		o.Clock = pauses{clock.NewFake(time.Unix(0, 0)), made}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); certificate.NewACME(o).Run(ctx) }()
		<-made
		stop()
		<-ended
		if got := len(asked) > 0; got != trusted {
			t.Errorf("with roots: %v: the authority was asked: %v, want %v", trusted, got, trusted)
		}
	}
}

func TestChallengesLeaveOtherRequestsAlone(t *testing.T) {
	a := certificate.NewACME(options(t, unreachable, "box.example.org"))
	h := a.Challenges(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for url, want := range map[string]int{
		"http://box.example.org/":                                      http.StatusTeapot,
		"http://box.example.org/.well-known/acme-challenge/unknown":    http.StatusNotFound,
		"http://box.example.org:80/.well-known/acme-challenge/unknown": http.StatusNotFound,
		"http://evil.example/.well-known/acme-challenge/unknown":       http.StatusTeapot,
		"http://box.example.org/.well-known/acme-challenge/..%2f..%2f": http.StatusNotFound,
	} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, url, nil))
		if rec.Code != want {
			t.Errorf("GET %s: got %d, want %d", url, rec.Code, want)
		}
	}
}
