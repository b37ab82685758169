package certificate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/certificate"
	"github.com/gonebox/gonebox/internal/clock"
)

// newPair makes a self-signed certificate and its key, as PEM.
func newPair(tb testing.TB, name string) (cert, key []byte) {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		DNSNames:     []string{name},
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		tb.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// files are the two files of a certificate. The test sets their modification time.
type files struct {
	tb        testing.TB
	cert, key string
	written   int
}

func (f *files) write(path string, content []byte) {
	f.tb.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		f.tb.Fatal(err)
	}
	f.written++
	stamp := time.Unix(int64(1_700_000_000+f.written), 0)
	if err := os.Chtimes(path, stamp, stamp); err != nil {
		f.tb.Fatal(err)
	}
}

func TestFilesAreReadAgainWhenTheyChange(t *testing.T) {
	dir := t.TempDir()
	f := &files{tb: t, cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	now := clock.NewFake(time.Unix(0, 0))
	quiet := slog.New(slog.DiscardHandler)
	if _, err := certificate.NewFiles(f.cert, f.key, now, quiet); err == nil {
		t.Fatal("NewFiles of missing files returned no error")
	}
	cert, key := newPair(t, "one.test")
	f.write(f.cert, cert)
	f.write(f.key, key)
	held, err := certificate.NewFiles(f.cert, f.key, now, quiet)
	if err != nil {
		t.Fatal(err)
	}
	served := func() string {
		t.Helper()
		pair, err := held.Get(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.Subject.CommonName
	}
	expect := func(want, when string) {
		t.Helper()
		if got := served(); got != want {
			t.Errorf("%s: the certificate is %s's, want %s's", when, got, want)
		}
	}

	cert, key = newPair(t, "two.test")
	f.write(f.cert, cert)
	expect("one.test", "right after a change")
	now.Advance(time.Minute)
	expect("one.test", "with a key that does not fit")
	f.write(f.key, key)
	now.Advance(time.Minute)
	expect("two.test", "with the pair complete")
	for name, want := range map[string]bool{"two.test": true, "one.test": false, "other.test": false, "": false} {
		if got := held.Covers(name); got != want {
			t.Errorf("Covers(%q) = %v, want %v", name, got, want)
		}
	}

	f.write(f.key, []byte("no key"))
	now.Advance(time.Minute)
	expect("two.test", "with a bad key")
	if err := os.Remove(f.cert); err != nil {
		t.Fatal(err)
	}
	now.Advance(time.Minute)
	expect("two.test", "with a file missing")
	cert, key = newPair(t, "three.test")
	f.write(f.cert, cert)
	f.write(f.key, key)
	now.Advance(time.Minute)
	expect("three.test", "after the repair")
}
