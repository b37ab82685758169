// Command goclient uses the client that oapi-codegen generates from the OpenAPI document: it creates a mailbox on the service at
// the URL in its argument, injects a message with a code, and prints the code.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	code, err := run(context.Background(), os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(code)
}

func run(ctx context.Context, url string) (string, error) {
	client, err := NewClientWithResponses(url)
	if err != nil {
		return "", err
	}
	created, err := client.CreateMailboxWithResponse(ctx, MailboxCreation{})
	if err != nil {
		return "", err
	}
	if created.JSON201 == nil {
		return "", fmt.Errorf("create a mailbox: %s", created.Body)
	}
	box := created.JSON201.Data
	signed := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+*box.Token)
		return nil
	}
	text := "Your code is 482915."
	injected, err := client.InjectMessageWithResponse(ctx, MessageInjection{Text: &text}, signed)
	if err != nil {
		return "", err
	}
	if injected.JSON201 == nil {
		return "", fmt.Errorf("inject a message: %s", injected.Body)
	}
	message := injected.JSON201.Data
	read, err := client.GetMessageWithResponse(ctx, message.Id, signed)
	if err != nil {
		return "", err
	}
	if read.JSON200 == nil || read.JSON200.Data.Otp == nil {
		return "", fmt.Errorf("read %s: %s", message.Id, read.Body)
	}
	return read.JSON200.Data.Otp.Code, nil
}
