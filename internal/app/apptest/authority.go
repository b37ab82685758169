package apptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Authority issues the certificates of receivers. The service trusts it like any other, through the file that
// SSL_CERT_FILE names; the processes that a test starts inherit that variable. It is safe for concurrent use.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// WithAuthority makes an authority, calls run, mostly that of a testing.M, and removes the authority. It returns the exit code of run, or
// 1 after an error, which it prints. It is for TestMain: see NewAuthority.
func WithAuthority(authority **Authority, run func() int) (code int) {
	a, err := NewAuthority()
	if err != nil {
		fmt.Fprintln(os.Stderr, "create an authority of certificates:", err)
		return 1
	}
	*authority = a
	code = run()
	if err := a.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the authority of certificates:", err)
		return 1
	}
	return code
}

// NewAuthority makes an authority that this process and its children trust, and no other. TestMain must call it before
// TLS is used, since Go reads the trusted certificates once, and Close at its end.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate("Gonebox tests")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gonebox-authority-")
	if err != nil {
		return nil, err
	}
	a := &Authority{dir: dir, cert: cert, key: key}
	file := filepath.Join(dir, "authority.pem")
	err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	return a, errors.Join(err, os.Setenv("SSL_CERT_FILE", file))
}

// Close removes the files of the authority.
func (a *Authority) Close() error { return os.RemoveAll(a.dir) }

// issue creates a certificate for an address.
func (a *Authority) issue(addr net.IP) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := certificate("receiver")
	template.IPAddresses = []net.IP{addr}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// certificate is a template with a name. TLS uses the machine's clock, not the service's fake one.
func certificate(name string) *x509.Certificate {
	serial := make([]byte, 8)
	rand.Read(serial) // never fails, as crypto/rand documents
	at := now()
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: at.Add(-time.Hour), NotAfter: at.Add(24 * time.Hour),
	}
}

func now() time.Time { return clock.System().Now() }
