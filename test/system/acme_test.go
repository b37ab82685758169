package system_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/smtp"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// certified is the name that certificates for mail are issued for.
const certified = "mx.box.example"

// acmeAuthority is Pebble, the test server of Let's Encrypt: it performs the http-01 and tls-alpn-01 challenges, sometimes
// rejects valid nonces, and follows RFC 8555 strictly.
type acmeAuthority struct {
	*httptest.Server
	roots  *x509.CertPool
	found  chan string            // takes the HTTP address of the service that is to be found at port 80 of every name
	secure atomic.Pointer[string] // the HTTPS address of the service that is to be found at port 443 of every name
	orders atomic.Int64           // that were begun
}

// startACME starts an authority whose certificates have the given lifetime.
func startACME(t *testing.T, lasting time.Duration) *acmeAuthority {
	t.Helper()
	a := &acmeAuthority{roots: x509.NewCertPool(), found: make(chan string, 1)}
	port80 := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		select {
		case service := <-a.found:
			a.found <- service // for who asks next
			r.SetURL(&url.URL{Scheme: "http", Host: service})
			r.Out.Host = r.In.Host // with the authority's port
		case <-r.In.Context().Done(): // the service never started
		}
	}})
	t.Cleanup(port80.Close)
	quiet, store := log.New(io.Discard, "", 0), db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: uint64(lasting / time.Second)}})
	prover := va.New(quiet, port80.Listener.Addr().(*net.TCPAddr).Port, a.forwardTLS(t), false, resolveToLoopback(t), store)
	front := wfe.New(quiet, store, prover, issuer, []string{"authority.example"}, false, false, 0, 0)
	a.roots.AppendCertsFromPEM(issuer.GetRootCert(0).PEM())
	handler := front.Handler()
	a.Server = authority.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &statusWriter{ResponseWriter: w}
		handler.ServeHTTP(answer, r)
		if r.URL.Path == "/order-plz" && answer.status == http.StatusCreated { // Pebble refuses one of twenty nonces, for practice
			a.orders.Add(1)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

// statusWriter keeps the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader keeps the status.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// forwardTLS returns the port of a proxy that forwards connections to the address in a.secure. Until there is one it closes
// them, as if nothing listened.
func (a *acmeAuthority) forwardTLS(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return // closed by the end of the test
			}
			serving.Go(func() { a.forward(in) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return l.Addr().(*net.TCPAddr).Port
}

// forward copies between a connection and one to the address in a.secure until either ends.
func (a *acmeAuthority) forward(in net.Conn) {
	defer in.Close()
	service := a.secure.Load()
	if service == nil {
		return
	}
	out, err := net.Dial("tcp", *service)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
	_, _ = io.Copy(in, out)
}

// resolveToLoopback returns the address of a DNS server that resolves every name to this machine.
func resolveToLoopback(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // Pebble asks by TCP alone
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			answer.Answer = []dns.RR{&dns.A{
				Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}, A: net.IPv4(127, 0, 0, 1),
			}}
		}
		_ = w.WriteMsg(answer) // who does not hear it asks again
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.ActivateAndServe() }) // it ends with its listener
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return l.Addr().String()
}

// startCertified starts a service that gets its certificate from an authority.
func startCertified(t *testing.T, a *acmeAuthority) *service {
	t.Helper()
	s := start(t, options{set: map[string]string{
		"smtp.hostname": certified, "smtp.tls.acme": "true", "smtp.tls.acme_directory": a.URL + wfe.DirectoryPath,
	}})
	a.found <- s.http
	return s
}

// certificateBy returns the certificate that a verifying client gets by STARTTLS.
func certificateBy(s *service, a *acmeAuthority) (*x509.Certificate, error) {
	c, err := smtp.Dial(s.smtp)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.StartTLS(&tls.Config{ServerName: certified, RootCAs: a.roots}); err != nil {
		return nil, err
	}
	state, _ := c.TLSConnectionState()
	return state.PeerCertificates[0], c.Quit()
}

// awaitCertificate waits for a certificate, for which a handshake waits for some seconds only, and an order may take longer.
func awaitCertificate(t *testing.T, s *service, a *acmeAuthority) (c *x509.Certificate) {
	t.Helper()
	await(t, "a certificate by STARTTLS", func() (ok bool) {
		var err error
		c, err = certificateBy(s, a)
		return err == nil
	})
	return c
}

func TestCertificateIsFetchedAndKept(t *testing.T) {
	t.Parallel()
	a := startACME(t, 90*24*time.Hour)
	s := startCertified(t, a)
	first := awaitCertificate(t, s, a)
	s.stop()
	a.Close()
	s.restart()
	again, err := certificateBy(s, a)
	if err != nil || again.SerialNumber.Cmp(first.SerialNumber) != 0 {
		t.Errorf("the certificate after a restart, with the authority out of reach: %v, want the one that was kept", err)
	}
	kept, err := os.ReadDir(filepath.Join(s.dir, "acme"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("the folder acme has nothing: %v, want the certificate kept there", err)
	}
	for _, file := range kept {
		if info, err := file.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v, %v, want it for its owner alone", file.Name(), info.Mode(), err)
		}
	}
}

func TestCertificateIsRenewedBeforeExpiry(t *testing.T) {
	t.Parallel()
	a := startACME(t, 24*time.Second) // a third before its end it is renewed
	s := startCertified(t, a)
	first := awaitCertificate(t, s, a) // on a busy machine the very first may have just expired
	await(t, "another certificate", func() bool {
		next, err := certificateBy(s, a)
		return err == nil && next.SerialNumber.Cmp(first.SerialNumber) != 0
	})
}
