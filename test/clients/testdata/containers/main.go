// The program starts a container, waits for a code in it and prints where it was reached.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"

	gonebox "github.com/gonebox/gonebox/clients/go"
	"github.com/gonebox/gonebox/clients/go/goneboxcontainer"
	"github.com/testcontainers/testcontainers-go"
)

func main() {
	ctx := context.Background()
	image, key := os.Args[1], os.Args[2]
	if image == "" {
		image = goneboxcontainer.Image
	}
	var options []testcontainers.ContainerCustomizer
	if key != "" {
		options = append(options, testcontainers.WithEnv(map[string]string{"GONEBOX_DEV_KEY": key}))
	}
	c, err := goneboxcontainer.Run(ctx, image, options...)
	if err != nil {
		log.Fatal(err)
	}
	mailbox, err := gonebox.New(c.URL, c.Key).CreateMailbox(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, to := range []string{mailbox.Address, "ada@company.test"} { // the second is of the sink, which the API of Mailpit shows
		if err := exec.Command(os.Getenv("GONEBOX_BINARY"), "send", "--server", c.SMTP, "--to", to, "--code", "246810").Run(); err != nil {
			log.Fatal(err)
		}
	}
	code, err := mailbox.WaitForCode(ctx)
	if err != nil {
		log.Fatal(err)
	}
	res, err := http.Get(c.Mailpit + "/api/v1/messages")
	if err != nil {
		log.Fatal(err)
	}
	var list struct {
		Total int `json:"total"`
	}
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		log.Fatal(err)
	}
	host, port, err := net.SplitHostPort(c.SMTP)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"url": c.URL, "smtp": c.SMTP, "smtpHost": host, "smtpPort": port, "mailpit": c.Mailpit, "key": c.Key, "code": code, "total": list.Total,
	}); err != nil {
		log.Fatal(err)
	}
	if err := testcontainers.TerminateContainer(c); err != nil {
		log.Fatal(err)
	}
}
