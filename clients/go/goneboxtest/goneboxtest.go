// Package goneboxtest gives tests a Gonebox: the one that GONEBOX_URL names, else one of their own from the binary.
//
// Start is called once for a test or a group of tests, and StartService once in TestMain. Mailbox returns a mailbox that is destroyed
// after the test. A failure ends the test with a message that says what to do.
package goneboxtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"

	gonebox "github.com/gonebox/gonebox/clients/go"
)

// Service is a running service and its client.
type Service struct {
	*gonebox.Gonebox
	SMTP string // HOST:PORT for the mail of the application under test; GONEBOX_SMTP with GONEBOX_URL
}

// Start returns the service that GONEBOX_URL names, with the key in GONEBOX_KEY if there is one. Without it, Start runs
// "gonebox serve --dev" on free ports with a temporary data folder until the test ends. The binary is the one that
// GONEBOX_BINARY names, else gonebox on the PATH. It returns when the service is ready, within a minute, and must be
// called from the test's goroutine. When the test ends the process gets an interrupt, and is killed if it has not ended
// after 10 seconds. It also ends with the test's process, however that ends, since its standard input ends then.
func Start(t testing.TB) *Service {
	t.Helper()
	service, stop, err := StartService()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return service
}

// Project makes a project that is deleted after the test, with a name that begins with the given one: what an application sends while it is
// signed in with its SMTP credentials is that test's alone.
func (s *Service) Project(t testing.TB, name string) *gonebox.Project {
	t.Helper()
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails
	p, err := s.Gonebox.Project(context.Background(), name+"-"+hex.EncodeToString(suffix[:]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Destroy(context.Background()) }) // it may have ended in the test
	return p
}

// Mailbox makes a mailbox that is destroyed after the test. Each test should have its own, so that tests can run at the
// same time.
func (s *Service) Mailbox(t testing.TB) *gonebox.Mailbox {
	t.Helper()
	m, err := s.CreateMailbox(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Destroy(context.Background()) }) // it may have ended in the test
	return m
}
