package app_test

import (
	"bytes"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/config"
)

// Under profile: dev a warning replaces SMTP over TLS where its port is in use. A port that the operator named is an error, as all are.
func TestTakenPortOfSMTPSIsAWarning(t *testing.T) {
	// Another process may have the port, which will do, unless it is a test that ends before the service listens.
	var l net.Listener
	for try := 0; l == nil && try < 30; try++ {
		var err error
		if l, err = net.Listen("tcp", config.DevSMTPSAddr); err != nil {
			time.Sleep(time.Second)
		}
	}
	if l != nil {
		defer func() { _ = l.Close() }()
	}
	var log bytes.Buffer
	s := apptest.Start(t, apptest.Options{Log: &log, Set: map[string]string{
		"profile": "dev", "compat.mailpit.addr": "", "smtp.tls.addr": config.DevSMTPSAddr, "account.password.memory": "8KiB",
	}})
	if s.SMTPS != "" {
		t.Errorf("the service listens on %s, want nothing for SMTP over TLS", s.SMTPS)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.Contains(got, "SMTP over TLS is off") {
		t.Errorf("the log is %q, want a warning that SMTP over TLS is off", got)
	}
}

// A client that does not trust the certificate ends the handshake, and the log says what to do, once.
func TestUntrustedCertificateIsExplained(t *testing.T) {
	var log apptest.Buffer
	s := apptest.Start(t, apptest.Options{Log: &log, Set: map[string]string{
		"profile": "dev", "compat.mailpit.addr": "", "smtp.tls.addr": "127.0.0.1:0", "account.password.memory": "8KiB",
	}})
	for range 2 {
		if conn, err := tls.Dial("tcp", s.SMTPS, &tls.Config{ServerName: "localhost"}); err == nil {
			t.Errorf("a client that trusts no authority connected to %s, want an error of the certificate", conn.RemoteAddr())
		}
	}
	const advice = "does not trust the certificate"
	waitFor(t, func() bool { return strings.Contains(log.String(), advice) }) // a stop cuts handshakes off
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), advice); n != 1 {
		t.Errorf("the log explains %d times that a client does not trust the certificate, want once: %s", n, log.String())
	}
}
