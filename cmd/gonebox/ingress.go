package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/ingress"
	"github.com/gonebox/gonebox/internal/ingress/catchall"
)

type ingressCmd struct {
	Worker ingressWorkerCmd `cmd:"" help:"Print the Cloudflare Email Worker that posts mail to an ingress."`
	Test   ingressTestCmd   `cmd:"" help:"Send a mail through an ingress, and say what came of it."`
}

// ingressFlags are the flags of the commands about an ingress.
type ingressFlags struct {
	configFlags
	Name string `arg:"" help:"Name of the ingress in the configuration."`
	URL  string `name:"url" placeholder:"URL" help:"URL of the service (default: base_url)."`
}

// find returns the ingress and the URL to which its mail is posted.
func (f *ingressFlags) find(c *console) (in ingress.Config, cfg *config.Config, url string, err error) {
	if cfg, err = f.load(c, nil); err != nil {
		return in, nil, "", err
	}
	i := slices.IndexFunc(cfg.Ingress, func(in config.Ingress) bool { return in.Name == f.Name })
	if i < 0 {
		return in, nil, "", fmt.Errorf("there is no ingress %q in the configuration", f.Name)
	}
	one := cfg.Ingress[i]
	in = ingress.Config{Name: one.Name, Kind: one.Kind, Secret: string(one.Secret), Topic: one.Topic, PublicKey: one.PublicKey}
	_, port, _ := net.SplitHostPort(cfg.HTTP.Addr)
	base := strings.TrimSuffix(cmp.Or(f.URL, cfg.URL(port)), "/")
	return in, cfg, base + "/api/v1/ingress/" + in.Name, nil
}

type ingressWorkerCmd struct{ ingressFlags }

// Run prints the worker, which has the secret in it.
func (w *ingressWorkerCmd) Run(c *console) error {
	in, _, url, err := w.find(c)
	if err != nil {
		return err
	}
	if in.Kind != ingress.Cloudflare && in.Kind != ingress.Raw {
		return fmt.Errorf("the ingress %s is of the kind %s; a worker posts to one of the kind cloudflare", in.Name, in.Kind)
	}
	_, err = io.WriteString(c.out, ingress.Worker(in, url))
	return err
}

type ingressTestCmd struct {
	ingressFlags
	To string `placeholder:"ADDRESS" help:"Recipient of the mail (default: postmaster at the first public domain, whose mail is for staff)."`
}

// ingressTimeout bounds the request of gonebox ingress test.
const ingressTimeout = 30 * time.Second

// Run posts a mail as the provider would.
func (t *ingressTestCmd) Run(c *console) error {
	in, cfg, url, err := t.find(c)
	if err != nil {
		return err
	}
	now := clock.System().Now()
	to, from := cmp.Or(t.To, "postmaster@"+cfg.Domains[0]), "test@"+cfg.Domains[0]
	messageID := rand.Text() + "@" + cfg.Domains[0]
	mail := fmt.Sprintf("From: Gonebox <%s>\r\nTo: <%s>\r\nSubject: Test of the ingress %s\r\nDate: %s\r\nMessage-ID: <%s>\r\n\r\nThis mail came through the ingress %s.\r\n",
		from, to, in.Name, now.Format(time.RFC1123Z), messageID, in.Name)
	if in.Kind == ingress.IMAP {
		return t.tryMailbox(c, cfg, to, mail, messageID)
	}
	r, err := ingress.NewRequest(c, in, url, from, to, []byte(mail), now)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: ingressTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return err
	}
	return reportIngress(c, in, response.StatusCode, body)
}

// mailboxTimeout is how long a running service may take to read a mailbox elsewhere: it takes up a lost connection within 40 seconds.
const mailboxTimeout = time.Minute

// tryMailbox puts a mail into the mailbox of an ingress, and waits until the service has taken it out.
func (t *ingressTestCmd) tryMailbox(c *console, cfg *config.Config, to, mail, messageID string) error {
	i := slices.IndexFunc(cfg.Ingress, func(in config.Ingress) bool { return in.Name == t.Name })
	in := cfg.Ingress[i]
	err := catchall.Try(c, catchall.Config{
		Name: in.Name, URL: in.URL, User: in.User, Password: string(in.Password), Folder: in.Folder,
	}, []byte("Delivered-To: "+to+"\r\n"+mail), messageID, mailboxTimeout)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s: the service has taken the message out of %s; it is stored unless the mailbox refused it for good\n", to, in.Folder)
	return err
}

// reportIngress says what came of a mail.
func reportIngress(c *console, in ingress.Config, status int, body []byte) error {
	var answer struct {
		Data   ingress.Receipt
		Title  string
		Detail string
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("the answer to %s has the status %d and is not one of Gonebox: is the URL that of the service?", in.Name, status)
	}
	switch {
	case status == http.StatusOK && len(answer.Data.Recipients) > 0:
		refused := 0
		for _, r := range answer.Data.Recipients {
			if !strings.HasPrefix(r.Reply, "2") {
				refused++
			}
			fmt.Fprintf(c.out, "%s: %s\n", r.Address, r.Reply)
		}
		if refused == len(answer.Data.Recipients) {
			return errors.New("the mail is refused; the provider is told that it was taken, since it could do nothing with the refusal")
		}
		return nil
	case status == http.StatusOK:
		return errors.New("the mail is refused; see the log, the delivery log and gonebox's page for staff")
	case status == http.StatusNotAcceptable:
		return fmt.Errorf("the mail is refused for good: %s", answer.Detail)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("the service does not accept the signature or the password: %s", cmp.Or(answer.Detail, "does it run with the same configuration?"))
	case status == http.StatusServiceUnavailable:
		return fmt.Errorf("the mail is not stored now, the provider would send it again: %s", answer.Detail)
	}
	return fmt.Errorf("the answer has the status %d: %s", status, cmp.Or(answer.Detail, answer.Title))
}
