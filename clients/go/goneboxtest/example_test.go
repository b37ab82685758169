package goneboxtest_test

import (
	"context"
	"fmt"
	"net/smtp"
	"os"
	"testing"

	gonebox "github.com/gonebox/gonebox/clients/go"
	"github.com/gonebox/gonebox/clients/go/goneboxtest"
	"github.com/gonebox/gonebox/clients/go/internal/exampletest"
)

// t is the *testing.T of a test that has one of the examples as its body.
var t = new(exampletest.T)

func TestMain(m *testing.M) {
	code := m.Run()
	t.End()
	os.Exit(code)
}

// signUp is the application under test, which sends its mail to server.
func signUp(server, address string) {
	mail := "From: shop@example.com\r\nTo: " + address + "\r\nSubject: Welcome\r\n\r\nYour code is 246810.\r\n"
	if err := smtp.SendMail(server, nil, "shop@example.com", []string{address}, []byte(mail)); err != nil {
		t.Fatal(err)
	}
}

// A test of a sign-up: func TestSignUp(t *testing.T) with this body.
func Example() {
	service := goneboxtest.Start(t)
	mailbox := service.Mailbox(t)
	signUp(service.SMTP, mailbox.Address)
	code, err := mailbox.WaitForCode(context.Background(), gonebox.WaitOptions{From: "shop@"})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(code)
	// Output: 246810
}

// The mailbox is destroyed when the test ends. A second one is another address.
func ExampleService_Mailbox() {
	service := goneboxtest.Start(t)
	ada, ben := service.Mailbox(t), service.Mailbox(t)
	signUp(service.SMTP, ada.Address)
	if _, err := ada.WaitForMessage(context.Background()); err != nil {
		t.Fatal(err)
	}
	messages, err := ben.Messages(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(len(messages))
	// Output: 0
}
