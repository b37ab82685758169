// Package signup_test shows a test that starts Gonebox in a container and waits for the code that an application sends.
package signup_test

import (
	"fmt"
	"net/smtp"
	"testing"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
	"github.com/gonebox/gonebox/clients/go/goneboxcontainer"
	"github.com/testcontainers/testcontainers-go"
)

func TestSignUp(t *testing.T) {
	ctx := t.Context()
	c, err := goneboxcontainer.Run(ctx, goneboxcontainer.Image)
	testcontainers.CleanupContainer(t, c)
	if err != nil {
		t.Fatal(err)
	}
	mailbox, err := gonebox.New(c.URL).CreateMailbox(ctx)
	if err != nil {
		t.Fatal(err)
	}

	// Your application does this: it sends its mail to c.SMTP.
	mail := fmt.Sprintf("From: app@company.test\r\nTo: %s\r\nSubject: Your code\r\n\r\nYour sign-in code is 246810.\r\n", mailbox.Address)
	if err := smtp.SendMail(c.SMTP, nil, "app@company.test", []string{mailbox.Address}, []byte(mail)); err != nil {
		t.Fatal(err)
	}

	code, err := mailbox.WaitForCode(ctx, gonebox.WaitOptions{Timeout: 30 * time.Second})
	if err != nil || code != "246810" {
		t.Errorf("WaitForCode() = %q, %v, want 246810", code, err)
	}
}
