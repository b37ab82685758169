package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/certificate"
	"github.com/gonebox/gonebox/internal/local"
)

// secure is what the process has of TLS. The zero value has none.
type secure struct {
	authorities []*certificate.ACME // each keeps its certificates in data_dir/acme
	web         certificate.Getter  // nil: http.addr speaks plain HTTP
	mail        certificate.Getter  // nil: STARTTLS is not offered
	selfSigned  bool                // mail was made at the start
	covers      func(host string) bool
}

// assembleTLS finds out where the certificates of http.addr and of STARTTLS come from. SMTP uses the certificates of HTTPS if it has none
// of its own. Reading files that are wrong is an error; nothing is requested from an authority yet.
func (a *App) assembleTLS() error {
	s := &a.secure
	s.covers = func(string) bool { return false }
	if err := a.secureWeb(); err != nil {
		return err
	}
	cfg := a.cfg.SMTP
	switch {
	case cfg.TLS.Cert != "":
		files, err := certificate.NewFiles(cfg.TLS.Cert, cfg.TLS.Key, a.clock, a.log)
		if err != nil {
			return fmt.Errorf("smtp.tls.cert = %q: %w; name a PEM file of the certificate and one of its key that the user of the service may read", cfg.TLS.Cert, err)
		}
		s.mail = files.Get
	case cfg.TLS.ACME && !slices.ContainsFunc(s.authorities, func(c *certificate.ACME) bool { return c.Covers(cfg.Hostname) }):
		own, err := a.newACME(certificate.Options{Names: []string{cfg.Hostname}, Directory: cfg.TLS.ACMEDirectory})
		if err != nil {
			return err
		}
		s.authorities, s.mail = append(s.authorities, own), own.Mail(cfg.Hostname)
	}
	if s.mail == nil && cfg.TLS.SelfSigned {
		var err error
		hosts := slices.Concat([]string{cfg.Hostname, "localhost", "127.0.0.1", "::1"}, a.cfg.Dev.Hosts)
		if s.mail, err = certificate.NewSelfSigned(a.clock.Now(), hosts...); err != nil {
			return fmt.Errorf("smtp.tls.self_signed: %w", err)
		}
		s.selfSigned = true
	}
	return nil
}

// secureWeb sets what of a.secure depends on http.tls.
func (a *App) secureWeb() error {
	cfg, s := a.cfg.HTTP.TLS, &a.secure
	if cfg.Cert != "" {
		files, err := certificate.NewFiles(cfg.Cert, cfg.Key, a.clock, a.log)
		if err != nil {
			return fmt.Errorf("http.tls.cert = %q: %w; name a PEM file of the certificate and one of its key that the user of the service may read", cfg.Cert, err)
		}
		s.web, s.mail, s.covers = files.Get, files.Get, files.Covers
	}
	if len(cfg.ACME.Hosts) == 0 {
		return nil
	}
	roots, err := readRoots(cfg.ACME.Roots)
	if err != nil {
		return fmt.Errorf("http.tls.acme.roots = %q: %w; name a PEM file of certificates that the user of the service may read, or leave it out", cfg.ACME.Roots, err)
	}
	acme, err := a.newACME(certificate.Options{Names: cfg.ACME.Hosts, Directory: cfg.ACME.Directory, Email: cfg.ACME.Email, Roots: roots})
	if err != nil {
		return err
	}
	s.authorities, s.web, s.mail, s.covers = append(s.authorities, acme), acme.Get, acme.Mail(a.cfg.SMTP.Hostname), acme.Covers
	return nil
}

// newACME returns an ACME that keeps its certificates in data_dir. A folder that cannot be written is an error: certificates that are
// not kept would be ordered again at every start, which authorities limit.
func (a *App) newACME(o certificate.Options) (*certificate.ACME, error) {
	o.Dir, o.Clock, o.Logger = filepath.Join(a.cfg.DataDir, "acme"), a.clock, a.log
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("data_dir: no folder for certificates: %w", err)
	}
	return certificate.NewACME(o), nil
}

// readRoots returns the certificates of a PEM file, nil for no file.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // the system's are meant
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("it has no certificate")
	}
	return roots, nil
}

// tlsConfig returns the configuration of http.addr, nil for plain HTTP. Where an authority is used, its handshakes are answered
// there for every name, also for that of SMTP.
func (s *secure) tlsConfig() *tls.Config {
	if s.web == nil {
		return nil
	}
	protocols := []string{"h2", "http/1.1"}
	if len(s.authorities) > 0 {
		protocols = append(protocols, certificate.ALPN)
	}
	return certificate.Config(func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		for _, authority := range s.authorities {
			if slices.Contains(hello.SupportedProtos, certificate.ALPN) && authority.Covers(strings.ToLower(hello.ServerName)) {
				return authority.Get(hello)
			}
		}
		return s.web(hello)
	}, protocols...)
}

// challenges returns a handler that responds to the HTTP challenges of all authorities and passes other requests to next.
func (s *secure) challenges(next http.Handler) http.Handler {
	for _, authority := range s.authorities {
		next = authority.Challenges(next)
	}
	return next
}

// obtain obtains the certificates that are missing, until ctx ends. It does not wait: a request to an authority may take longer than a
// shutdown.
func (s *secure) obtain(ctx context.Context) {
	for _, authority := range s.authorities {
		go authority.Run(ctx)
	}
}

// The bounds of an HTTP/2 connection. What a client sends is buffered before it is read, outside of memory.budget.
const (
	streamsMax       = 100
	receiveMax       = 128 << 10 // octets of a connection
	receiveMaxStream = 64 << 10
)

// hstsMax is how long a browser remembers that a host speaks HTTPS alone (RFC 6797): a year.
const hstsMax = "max-age=31536000"

// useTLS makes the public server speak HTTPS, if there is a certificate. Handshakes have http.read_header_timeout, as net/http sees to.
func (a *App) useTLS(server *http.Server) {
	if server.TLSConfig = a.secure.tlsConfig(); server.TLSConfig == nil {
		return
	}
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streamsMax, MaxReceiveBufferPerConnection: receiveMax, MaxReceiveBufferPerStream: receiveMaxStream}
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local.IsPrivateName(r.Host) { // such a name belongs to every machine or network: a browser must not remember it
			w.Header().Set("Strict-Transport-Security", hstsMax)
		}
		next.ServeHTTP(w, r)
	})
}

// redirect returns the handler of http.redirect_addr: it responds to HTTP challenges and redirects every other request to https, at the
// host that it names and the port of base_url. A host that is not served is refused, so that the redirect leads nowhere else.
func (a *App) redirect() http.Handler {
	base, err := url.Parse(a.baseURL)
	if err != nil {
		base = new(url.URL) // does not happen: the configuration has checked the URL
	}
	return a.secure.challenges(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(strings.TrimSuffix((&url.URL{Host: r.Host}).Hostname(), "."))
		if host != strings.ToLower(base.Hostname()) && !a.secure.covers(host) {
			http.Error(w, "This host is not served here. The service is at "+a.baseURL, http.StatusMisdirectedRequest)
			return
		}
		if !strings.HasPrefix(r.URL.Path, "/") {
			http.Error(w, "This request cannot be redirected. The service is at "+a.baseURL, http.StatusBadRequest)
			return
		}
		if port := base.Port(); port != "" {
			host = net.JoinHostPort(host, port)
		} else if strings.Contains(host, ":") { // an IPv6 address
			host = "[" + host + "]"
		}
		w.Header().Set("Location", "https://"+host+r.URL.RequestURI())
		w.WriteHeader(http.StatusPermanentRedirect)
	}))
}
