// Package signup_test shows a test that starts Gonebox in a container and waits for the code that an application sends.
package signup_test

import (
	"context"
	"fmt"
	"net/smtp"
	"testing"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// start starts Gonebox and returns the URL of its API and the address of its SMTP server.
func start(ctx context.Context, t *testing.T) (url, mailServer string) {
	t.Helper()
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		Started: true,
		ContainerRequest: testcontainers.ContainerRequest{
			Image: "ghcr.io/gonebox/gonebox:latest", Cmd: []string{"serve", "--dev"},
			ExposedPorts: []string{"8080/tcp", "1025/tcp", "8025/tcp"},
			WaitingFor:   wait.ForHTTP("/readyz").WithPort("8080/tcp"),
		},
	})
	testcontainers.CleanupContainer(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if url, err = c.PortEndpoint(ctx, "8080/tcp", "http"); err != nil {
		t.Fatal(err)
	}
	if mailServer, err = c.PortEndpoint(ctx, "1025/tcp", ""); err != nil {
		t.Fatal(err)
	}
	return url, mailServer
}

func TestSignUp(t *testing.T) {
	ctx := t.Context()
	url, mailServer := start(ctx, t)
	mailbox, err := gonebox.New(url).CreateMailbox(ctx)
	if err != nil {
		t.Fatal(err)
	}

	// Your application does this: it sends its mail to mailServer.
	mail := fmt.Sprintf("From: app@company.test\r\nTo: %s\r\nSubject: Your code\r\n\r\nYour sign-in code is 246810.\r\n", mailbox.Address)
	if err := smtp.SendMail(mailServer, nil, "app@company.test", []string{mailbox.Address}, []byte(mail)); err != nil {
		t.Fatal(err)
	}

	code, err := mailbox.WaitForCode(ctx, gonebox.WaitOptions{Timeout: 30 * time.Second})
	if err != nil || code != "246810" {
		t.Errorf("code %q, %v", code, err)
	}
}
