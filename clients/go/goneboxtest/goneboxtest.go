// Package goneboxtest gives tests a Gonebox: the one that GONEBOX_URL names, else one of their own from the binary.
//
// Start is called once for a test or a group of tests and returns a client; Mailbox returns a mailbox that is destroyed
// after the test. A failure ends the test with a message that says what to do.
package goneboxtest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

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
// after 10 seconds.
func Start(t testing.TB) *Service {
	t.Helper()
	if url := os.Getenv("GONEBOX_URL"); url != "" {
		return &Service{Gonebox: gonebox.New(url, os.Getenv("GONEBOX_KEY")), SMTP: os.Getenv("GONEBOX_SMTP")}
	}
	binary := os.Getenv("GONEBOX_BINARY")
	if binary == "" {
		binary = "gonebox"
	}
	web, smtp := freeAddresses(t)
	url := "http://" + web
	cmd := exec.Command(binary, "serve", "--dev", "--data-dir", t.TempDir(), "--http-addr", web, "--smtp-addr", smtp,
		"--set", "base_url="+url, "--set", "compat.mailpit.addr=")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatalf("start gonebox: %v. Put gonebox on the PATH, or set GONEBOX_BINARY to it, or GONEBOX_URL to a running service", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended shows in its output
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	for deadline := time.Now().Add(time.Minute); !ready(url); time.Sleep(50 * time.Millisecond) {
		select {
		case <-ended:
			t.Fatalf("gonebox ended: %s", output.String())
		default:
			if time.Now().After(deadline) {
				t.Fatal("gonebox was not ready within a minute")
			}
		}
	}
	return &Service{Gonebox: gonebox.New(url), SMTP: smtp}
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

// ready reports whether the service at a URL responds to /readyz with 200.
func ready(url string) bool {
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get(url + "/readyz")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// freeAddresses returns two local addresses whose ports are free now. Another process may take one of them before the
// service does, in which case the service ends and Start fails.
func freeAddresses(t testing.TB) (one, two string) {
	t.Helper()
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close() // after the second is found, so that the two differ
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	return first.Addr().String(), second.Addr().String()
}
