package certificate_test

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/certificate"
)

// A client that trusts the certificate accepts it for each of its hosts, and for no other.
func TestSelfSignedCertificateIsForItsHosts(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	get, err := certificate.NewSelfSigned(now, "mx.example.test", "localhost", "127.0.0.1", "::1")
	if err != nil {
		t.Fatalf("NewSelfSigned: %v", err)
	}
	pair, err := get(nil)
	if err != nil {
		t.Fatalf("the Getter: %v", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatalf("ParseCertificate: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	for _, test := range []struct {
		host string
		at   time.Time
		want bool
	}{
		{"mx.example.test", now, true},
		{"localhost", now.AddDate(1, 0, 0), true},
		{"127.0.0.1", now.Add(-time.Hour), true},
		{"::1", now, true},
		{"other.example.test", now, false},
		{"127.0.0.2", now, false},
		{"localhost", now.AddDate(2, 0, 0), false},
	} {
		_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: test.host, CurrentTime: test.at})
		if (err == nil) != test.want {
			t.Errorf("Verify for %s at %s: %v, want success %v", test.host, test.at, err, test.want)
		}
	}
}
