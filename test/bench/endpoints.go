package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// endpointPort is the one that the service posts to and that needs no privilege.
const endpointPort = "8443"

// endpoint is a webhook endpoint on a loopback address of its own.
type endpoint struct {
	url    string
	slow   time.Duration // how long it takes to answer; negative: it never does
	server *http.Server
	got    atomic.Int64
	last   atomic.Int64 // when the latest came, in nanoseconds since 1970
}

// endpoints makes some, one for each pace, which a service trusts that is started after them.
func (b *bench) endpoints(paces []time.Duration) (all []*endpoint, err error) {
	var listeners []net.Listener
	var addresses []net.IP
	for range paces {
		l, err := freeLoopback()
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, l)
		addresses = append(addresses, l.Addr().(*net.TCPAddr).IP)
	}
	pair, public, err := selfSigned(addresses)
	if err != nil {
		return nil, err
	}
	trusted := filepath.Join(b.scratch, "endpoints.pem")
	if err := os.WriteFile(trusted, public, 0o600); err != nil {
		return nil, err
	}
	if err := os.Setenv("SSL_CERT_FILE", trusted); err != nil {
		return nil, err
	}
	for i, l := range listeners {
		e := &endpoint{url: fmt.Sprintf("https://%s/", l.Addr()), slow: paces[i]}
		e.server = &http.Server{Handler: e, ErrorLog: log.New(io.Discard, "", 0)}
		config := &tls.Config{Certificates: []tls.Certificate{pair}}
		go func() { _ = e.server.Serve(tls.NewListener(l, config)) }()
		all = append(all, e)
	}
	return all, nil
}

// ServeHTTP takes a delivery at the endpoint's pace.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // what breaks off is not counted against anybody
	e.last.Store(time.Now().UnixNano())
	e.got.Add(1)
	if e.slow < 0 {
		<-r.Context().Done()
	}
	if e.slow > 0 {
		select {
		case <-time.After(e.slow):
		case <-r.Context().Done():
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// freeLoopback listens on the port at an unused loopback address.
func freeLoopback() (net.Listener, error) {
	var last error
	for range 50 {
		var b [3]byte
		rand.Read(b[:]) // never fails, as crypto/rand documents
		l, err := net.Listen("tcp", net.JoinHostPort(net.IPv4(127, b[0], b[1], b[2]|1).String(), endpointPort))
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, last
}

// selfSigned is a certificate for some addresses, and its public part as a file.
func selfSigned(addresses []net.IP) (pair tls.Certificate, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: addresses, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}
