package smtpd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACME obtains a certificate from an authority and renews it (RFC 8555, docs/decisions/0015). It is safe for
// concurrent use.
type ACME struct {
	hostname string
	manager  *autocert.Manager
}

// NewACME returns an ACME that keeps the certificate for hostname, and the account's key, in the folder dir. The
// authority is the one whose directory is at url. Requesting a certificate from it means accepting its terms. NewACME
// requests nothing; Fetch and handshakes do. The handler of Challenges must be served on port 80 of hostname.
func NewACME(hostname, dir, url string) *ACME {
	return &ACME{hostname: hostname, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(dir), HostPolicy: autocert.HostWhitelist(hostname),
		Client: &acme.Client{DirectoryURL: url},
	}}
}

// Config returns a TLS configuration with the certificate.
func (a *ACME) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate} // RFC 8996
}

// certificate ignores the name that the client sends: many mail servers send none, or another name of this server.
func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	named := *hello
	named.ServerName = a.hostname
	return a.manager.GetCertificate(&named)
}

// Challenges returns a handler that responds to the authority's HTTP challenges (RFC 8555 §8.3) and passes other requests to next.
func (a *ACME) Challenges(next http.Handler) http.Handler {
	challenges := a.manager.HTTPHandler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.Host); err == nil && strings.HasPrefix(r.URL.Path, "/.well-known/acme-challenge/") {
			r = r.WithContext(r.Context()) // a copy
			r.Host = host                  // without the port, which an authority may add (RFC 9110 §7.2): the manager would not recognise the name
		}
		challenges.ServeHTTP(w, r)
	})
}

// Fetch obtains the certificate, so that no client has to wait for it. Renewal is automatic. It blocks until the
// authority has replied: autocert takes no context.
func (a *ACME) Fetch(context.Context) error {
	_, err := a.certificate(&tls.ClientHelloInfo{
		CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		SupportedCurves:  []tls.CurveID{tls.CurveP256},
	})
	if err != nil {
		return fmt.Errorf("fetch a certificate for %s: %w", a.hostname, err)
	}
	return nil
}
