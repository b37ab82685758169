package smtpd_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// stored writes a certificate to the folder in which an earlier run would have left the one that it fetched.
func stored(t *testing.T, dir, hostname string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: hostname}, DNSNames: []string{hostname},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(90 * 24 * time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	content := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})...)
	if err := os.WriteFile(filepath.Join(dir, hostname), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestACMEServesTheFetchedCertificateWhateverNameTheClientSays(t *testing.T) {
	const hostname = "mx.box.example"
	dir := t.TempDir()
	stored(t, dir, hostname)
	a := smtpd.NewACME(hostname, dir, "http://127.0.0.1:1/directory") // the directory is never contacted
	if err := a.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"", hostname, "mail.other.example"} {
		client, server := net.Pipe()
		go func() { _ = tls.Server(server, a.Config()).HandshakeContext(t.Context()) }()
		conn := tls.Client(client, &tls.Config{ServerName: says, InsecureSkipVerify: true}) // only the name is tested
		if err := conn.HandshakeContext(t.Context()); err != nil {
			t.Fatalf("a client that says %q: %v", says, err)
		}
		if err := conn.ConnectionState().PeerCertificates[0].VerifyHostname(hostname); err != nil {
			t.Errorf("a client that says %q: %v", says, err)
		}
		_, _ = client.Close(), server.Close()
	}
}

func TestACMEAsksItsAuthorityAndLeavesOtherRequestsAlone(t *testing.T) {
	asked := make(chan string, 10)
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "not you", http.StatusForbidden) // an error that is not retried
	}))
	defer authority.Close()
	a := smtpd.NewACME("mx.box.example", t.TempDir(), authority.URL+"/directory")
	if err := a.Fetch(t.Context()); err == nil || <-asked != "/directory" {
		t.Errorf("Fetch = %v", err)
	}
	h := a.Challenges(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for path, want := range map[string]int{"/": http.StatusTeapot, "/.well-known/acme-challenge/unknown": http.StatusNotFound} {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://mx.box.example"+path, nil)
		h.ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("%s: %d, want %d", path, rec.Code, want)
		}
	}
}
