package gonebox_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"testing"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
	"github.com/gonebox/gonebox/clients/go/goneboxtest"
	"github.com/gonebox/gonebox/clients/go/internal/exampletest"
)

// TestMain runs the examples against the service that GONEBOX_URL names, else against one of their own.
func TestMain(m *testing.M) {
	t := new(exampletest.T)
	if err := os.Setenv("GONEBOX_URL", goneboxtest.Start(t).URL); err != nil {
		t.Fatal(err)
	}
	code := m.Run()
	t.End()
	os.Exit(code)
}

// newMailbox returns a mailbox of the service that GONEBOX_URL names.
func newMailbox(ctx context.Context) *gonebox.Mailbox {
	mailbox, err := gonebox.New(os.Getenv("GONEBOX_URL")).CreateMailbox(ctx)
	if err != nil {
		log.Fatal(err)
	}
	return mailbox
}

// send is the application under test. It puts a message into the mailbox, where an application would send one to
// mailbox.Address.
func send(ctx context.Context, mailbox *gonebox.Mailbox, draft gonebox.Draft) *gonebox.Message {
	message, err := mailbox.Inject(ctx, draft)
	if err != nil {
		log.Fatal(err)
	}
	return message
}

func Example() {
	ctx := context.Background()
	service := gonebox.New(os.Getenv("GONEBOX_URL")) // such as http://localhost:8080
	mailbox, err := service.CreateMailbox(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer mailbox.Destroy(ctx)

	// Your application sends this to mailbox.Address.
	if _, err := mailbox.Inject(ctx, gonebox.Draft{Subject: "Welcome", Text: "Your code is 246810."}); err != nil {
		log.Fatal(err)
	}

	code, err := mailbox.WaitForCode(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(code)
	// Output: 246810
}

func ExampleGonebox_CreateMailbox() {
	ctx := context.Background()
	service := gonebox.New(os.Getenv("GONEBOX_URL"))
	mailbox, err := service.CreateMailbox(ctx, gonebox.MailboxOptions{TTL: 10 * time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	defer mailbox.Destroy(ctx)
	fmt.Println("expires in", time.Until(mailbox.ExpiresAt).Round(time.Minute))
	// Output: expires in 10m0s
}

// The token of a mailbox opens it again, for example in another process.
func ExampleGonebox_OpenMailbox() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	same, err := gonebox.New(os.Getenv("GONEBOX_URL")).OpenMailbox(ctx, mailbox.Token)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(same.Address == mailbox.Address)
	// Output: true
}

// Request reaches the operations of the API that have no method.
func ExampleGonebox_Request() {
	ctx := context.Background()
	service := gonebox.New(os.Getenv("GONEBOX_URL"))
	var domains []struct{ Domain string }
	if err := service.Request(ctx, http.MethodGet, "/domains", nil, &domains); err != nil {
		log.Fatal(err)
	}
	fmt.Println("addresses can have this domain:", domains[0].Domain != "")
	// Output: addresses can have this domain: true
}

// A mail of another sender does not end the wait.
func ExampleMailbox_WaitForCode() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	send(ctx, mailbox, gonebox.Draft{From: "Bank <bank@example.org>", Text: "Your code is 135791."})
	send(ctx, mailbox, gonebox.Draft{From: "Shop <shop@example.com>", Text: "Your code is 246810."})

	code, err := mailbox.WaitForCode(ctx, gonebox.WaitOptions{From: "bank@", Timeout: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(code)
	// Output: 135791
}

// Of several links, the one that signs in, confirms or resets is returned.
func ExampleMailbox_WaitForLink() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	send(ctx, mailbox, gonebox.Draft{
		Subject: "Your password",
		HTML:    `<a href="https://shop.example/">Shop</a> <a href="https://shop.example/reset?token=Zx81">Reset your password</a>`,
	})

	link, err := mailbox.WaitForLink(ctx, gonebox.WaitOptions{Subject: "password"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(link)
	// Output: https://shop.example/reset?token=Zx81
}

func ExampleMailbox_WaitForMessage() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	send(ctx, mailbox, gonebox.Draft{From: "Ada <ada@example.org>", Subject: "Lunch", Text: "At noon?"})

	message, err := mailbox.WaitForMessage(ctx, gonebox.WaitOptions{Subject: "lunch"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(message.From.Name, "writes:", message.Text)
	// Output: Ada writes: At noon?
}

// The error names the message that came although none was expected.
func ExampleMailbox_ExpectNoMessage() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	fmt.Println(mailbox.ExpectNoMessage(ctx, gonebox.WaitOptions{Timeout: time.Second}))

	welcome := send(ctx, mailbox, gonebox.Draft{Subject: "Welcome"})
	var unexpected *gonebox.Error
	if err := mailbox.ExpectNoMessage(ctx); errors.As(err, &unexpected) {
		fmt.Println(unexpected.Code)
	}

	// After leaves out a message that was expected.
	fmt.Println(mailbox.ExpectNoMessage(ctx, gonebox.WaitOptions{After: welcome.ID, Timeout: time.Second}))
	// Output:
	// <nil>
	// wait.unexpected_message
	// <nil>
}

func ExampleMailbox_Attachment() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	send(ctx, mailbox, gonebox.Draft{Subject: "Invoice 4711", Attachments: []gonebox.File{{Filename: "invoice.txt", Content: []byte("EUR 42")}}})

	message, err := mailbox.WaitForMessage(ctx, gonebox.WaitOptions{Has: []string{"attachment"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range message.Attachments {
		content, err := mailbox.Attachment(ctx, message.ID, file.ID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", file.Filename, content)
	}
	// Output: invoice.txt: EUR 42
}

func ExampleMailbox_Messages() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	send(ctx, mailbox, gonebox.Draft{From: "shop@example.com", Subject: "Order 1"})
	send(ctx, mailbox, gonebox.Draft{From: "bank@example.org", Subject: "Statement"})
	send(ctx, mailbox, gonebox.Draft{From: "shop@example.com", Subject: "Order 2"})

	messages, err := mailbox.Messages(ctx, gonebox.Filter{From: "shop@"})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range messages {
		fmt.Println(m)
	}
	// Output:
	// "Order 2" from shop@example.com
	// "Order 1" from shop@example.com
}

// Messages that were there before are no events.
func ExampleMailbox_On() {
	ctx := context.Background()
	mailbox := newMailbox(ctx)
	send(ctx, mailbox, gonebox.Draft{Subject: "Welcome"})
	subjects := make(chan string)
	stop, err := mailbox.On(ctx, "message", func(e gonebox.Event) { subjects <- e.Message.Subject })
	if err != nil {
		log.Fatal(err)
	}
	defer stop()

	send(ctx, mailbox, gonebox.Draft{Subject: "Order 1"})
	send(ctx, mailbox, gonebox.Draft{Subject: "Order 2"})
	fmt.Println(<-subjects)
	fmt.Println(<-subjects)
	// Output:
	// Order 1
	// Order 2
}

// Code says what has happened.
func ExampleError() {
	_, err := gonebox.New(os.Getenv("GONEBOX_URL")).OpenMailbox(context.Background(), "xm_unknown")
	var problem *gonebox.Error
	if errors.As(err, &problem) {
		fmt.Println(problem.Status, problem.Code)
	}
	// Output: 401 auth.invalid_token
}
