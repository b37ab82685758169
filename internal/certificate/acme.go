package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/gonebox/gonebox/internal/clock"
)

// ALPN is the protocol that a listener must offer beside its own for an authority to verify names by a handshake
// (tls-alpn-01, RFC 8737).
const ALPN = acme.ALPNProto

// ACME obtains a certificate for each of its names from an authority and renews it (RFC 8555, docs/decisions/0015). It is
// safe for concurrent use.
//
// Only Run orders certificates, one after the other, and after a failure it pauses. A handshake never does: it gets what
// Run has obtained, so that clients cannot make the service exceed the limits of its authority, whatever names they send.
type ACME struct {
	names   []string
	state   map[string]*name
	manager *autocert.Manager
	clock   clock.Clock
	logger  *slog.Logger
}

// name is the state of one name of an ACME.
type name struct {
	obtained atomic.Bool   // there is a certificate; it is renewed from then on
	tried    chan struct{} // closed when Run has tried for the first time
	try      sync.Once     // closes tried
}

// Options are the settings of an ACME. Roots and Email may be left out.
type Options struct {
	Names     []string       // host names, in lower-case A-label form, at least one
	Dir       string         // the folder in which the certificates and the account's key are kept
	Directory string         // URL of the authority's directory; using the authority means accepting its terms
	Email     string         // contact address for the authority
	Roots     *x509.CertPool // the certificates by which the authority is trusted; nil: those of the system
	Clock     clock.Clock
	Logger    *slog.Logger
}

// requestTimeout bounds each request to the authority.
const requestTimeout = 30 * time.Second

// NewACME returns an ACME. It requests nothing; Run does. An authority that verifies a name reaches either the handler of
// Challenges on port 80 of that name, or a listener with Get and ALPN on port 443.
func NewACME(o Options) *ACME {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // of the standard library
	if o.Roots != nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots}
	}
	a := &ACME{names: o.Names, state: make(map[string]*name, len(o.Names)), clock: o.Clock, logger: o.Logger, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(o.Dir), HostPolicy: autocert.HostWhitelist(o.Names...), Email: o.Email,
		Client: &acme.Client{DirectoryURL: o.Directory, HTTPClient: &http.Client{Transport: transport, Timeout: requestTimeout}},
	}}
	for _, n := range o.Names {
		a.state[n] = &name{tried: make(chan struct{})}
	}
	return a
}

// Covers reports whether a host name is one of those that certificates are obtained for.
func (a *ACME) Covers(host string) bool { return slices.Contains(a.names, host) }

// Get returns the certificate for the name that a client sends, or the one with which the authority verifies a name. A client
// that sends no name, or localhost, as a health check does, gets the certificate of the first name. For any other name
// there is none.
func (a *ACME) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	sent := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	switch {
	case isChallenge(hello):
		return a.manager.GetCertificate(hello)
	case sent == "" || sent == "localhost":
		sent = a.names[0]
	case a.state[sent] == nil:
		return nil, nil //nolint:nilnil // see Getter
	}
	return a.wait(hello.Context(), sent)
}

// Mail returns a Getter for SMTP. A client that sends no name of this ACME gets the certificate for hostname, or for the first
// name if hostname is none of them: many mail servers send no name, or another one of this server.
func (a *ACME) Mail(hostname string) Getter {
	if !a.Covers(hostname) {
		hostname = a.names[0]
	}
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if sent := strings.ToLower(hello.ServerName); a.Covers(sent) {
			return a.wait(hello.Context(), sent)
		}
		return a.wait(hello.Context(), hostname)
	}
}

// handshakeWait is how long a handshake waits for the first certificate of a name, which takes some seconds.
const handshakeWait = 8 * time.Second

// wait returns the certificate for one of the names. If the first order for it is still in progress, wait waits for that.
func (a *ACME) wait(ctx context.Context, host string) (*tls.Certificate, error) {
	state := a.state[host]
	if !state.obtained.Load() {
		if ctx == nil {
			ctx = context.Background() // a hello that a test has made
		}
		ctx, cancel := context.WithTimeout(ctx, handshakeWait)
		defer cancel()
		select {
		case <-state.tried:
		case <-ctx.Done():
		}
		if !state.obtained.Load() {
			return nil, fmt.Errorf("there is no certificate for %s yet", host)
		}
	}
	return a.manager.GetCertificate(helloFor(host))
}

// helloFor returns a handshake for which the manager uses a certificate with an ECDSA key: there is no other. All clients of the
// last ten years accept one, and a client cannot have a second certificate ordered by pretending that it does not.
func helloFor(host string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{
		ServerName:       host,
		CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		SupportedCurves:  []tls.CurveID{tls.CurveP256},
	}
}

// Challenges returns a handler that responds to the authority's HTTP challenges (RFC 8555 §8.3) and passes other requests to next.
func (a *ACME) Challenges(next http.Handler) http.Handler {
	challenges := a.manager.HTTPHandler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !strings.HasPrefix(r.URL.Path, "/.well-known/acme-challenge/") || !a.Covers(strings.ToLower(host)) {
			next.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(r.Context()) // a copy
		r.Host = host                  // without the port, which an authority may add (RFC 9110 §7.2): the manager would not recognise the name
		challenges.ServeHTTP(w, r)
	})
}

// Run obtains the certificates that are not in the folder yet, so that no client has to wait for one, and tries again until it
// has all of them or ctx ends. Renewal is automatic afterwards. A request to the authority may last longer than ctx:
// autocert takes no context.
func (a *ACME) Run(ctx context.Context) {
	for failures := 0; ; failures++ {
		pause := time.Duration(0)
		for _, host := range a.names {
			if ctx.Err() != nil {
				return
			}
			pause = max(pause, a.obtain(host, failures))
		}
		if pause == 0 {
			return
		}
		timer := a.clock.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// obtain gets the certificate for a name from the folder or from the authority. If that fails, it returns how long to pause
// before the next try, failures being the number of earlier ones.
func (a *ACME) obtain(host string, failures int) time.Duration {
	state := a.state[host]
	if state.obtained.Load() {
		return 0
	}
	defer state.try.Do(func() { close(state.tried) })
	if _, err := a.manager.GetCertificate(helloFor(host)); err != nil {
		pause := pauseAfter(err, failures)
		a.logger.Error("no certificate for "+host+", trying again later; the authority must reach port 80 or 443 of that name",
			slog.Any("error", err), slog.Duration("in", pause))
		return pause
	}
	state.obtained.Store(true)
	a.logger.Info("certificate obtained", slog.String("host", host))
	return 0
}

// The pauses after a failed order. Let's Encrypt allows five failed validations an hour for a name, of which an order may
// take two, one for each kind of challenge; its other limits are further away.
const (
	firstPause       = 5 * time.Minute // then every hour
	laterPause       = time.Hour
	unreachablePause = 2 * time.Minute // the authority did not count it. autocert repeats its last error for one minute
)

// pauseAfter returns how long to pause after an order has failed with err.
func pauseAfter(err error, failures int) time.Duration {
	pause := laterPause
	if _, unreachable := errors.AsType[*url.Error](err); unreachable {
		pause = unreachablePause
	} else if failures == 0 {
		pause = firstPause
	}
	if wanted, limited := acme.RateLimit(err); limited {
		pause = max(pause, wanted)
	}
	return pause
}
