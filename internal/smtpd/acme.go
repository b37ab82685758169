package smtpd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACME is a certificate that is fetched and renewed from an authority (RFC 8555).
type ACME struct {
	hostname string
	manager  *autocert.Manager
}

// NewACME keeps the certificate for hostname in the folder dir. The authority is the one whose directory is at url; by
// asking it for a certificate its terms are accepted. Who uses this lets Challenges answer on port 80 of hostname.
func NewACME(hostname, dir, url string) *ACME {
	return &ACME{hostname: hostname, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(dir), HostPolicy: autocert.HostWhitelist(hostname),
		Client: &acme.Client{DirectoryURL: url},
	}}
}

// Config is the TLS configuration with the certificate.
func (a *ACME) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate} // RFC 8996
}

// certificate answers every client alike: many a mail server says no name, or another by which it knows us.
func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	named := *hello
	named.ServerName = a.hostname
	return a.manager.GetCertificate(&named)
}

// Challenges answers the authority's proof of the name (RFC 8555 §8.3) and leaves every other request to next.
func (a *ACME) Challenges(next http.Handler) http.Handler { return a.manager.HTTPHandler(next) }

// Fetch sees that the certificate is there, so that no client has to wait for it. It renews itself from then on.
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
