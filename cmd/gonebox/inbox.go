package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/inbox"
)

type inboxCmd struct {
	New  inboxNewCmd  `cmd:"" help:"Create a mailbox and print its address."`
	Code inboxCodeCmd `cmd:"" help:"Wait for a code and print it."`
	Wait inboxWaitCmd `cmd:"" help:"Wait for a message and print it."`
	List inboxListCmd `cmd:"" help:"List the messages of a mailbox, or the mailboxes."`
	Show inboxShowCmd `cmd:"" help:"Print a message."`
	Save inboxSaveCmd `cmd:"" help:"Save a message as it was received."`
	End  inboxEndCmd  `cmd:"" help:"Destroy a mailbox."`
}

// Help is shown below the commands.
func (*inboxCmd) Help() string {
	return `Speaks to any Gonebox over HTTP, and keeps the tokens of its mailboxes in the user's configuration folder. A
command without ADDRESS means the newest mailbox.

Example:
  gonebox inbox code --new --url https://box.example.org`
}

// serviceFlags are the flags that name the service and the credential for new mailboxes.
type serviceFlags struct {
	URL string `placeholder:"URL" help:"URL of the service (default: the variable GONEBOX_URL, else that of the newest mailbox, else http://localhost:8080)."`
	Key string `placeholder:"KEY" help:"Developer key or user token for new mailboxes (default: the variable GONEBOX_KEY)."`
}

// defaultURL is where gonebox serve listens by default.
const defaultURL = "http://localhost:8080"

// mailboxes is what the inbox commands work with: the store of tokens on this machine and the service. url is empty if
// none was named: then existing mailboxes are those of all services, and a new one is created at defaultURL.
type mailboxes struct {
	*inbox.Store
	url, key string
}

// open opens the store and checks the URL, from which it removes the base path of the API if there is one.
func (f *serviceFlags) open(c *console) (*mailboxes, error) {
	store, err := inbox.NewStore(c.environ)
	if err != nil {
		return nil, err
	}
	m := &mailboxes{Store: store, url: cmp.Or(f.URL, envValue(c.environ, "GONEBOX_URL")), key: cmp.Or(f.Key, envValue(c.environ, "GONEBOX_KEY"))}
	m.url = strings.TrimSuffix(strings.TrimRight(m.url, "/"), "/api/v1")
	if m.url == "" {
		return m, nil
	}
	if u, err := url.Parse(m.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usageError{fmt.Errorf("%q is not the URL of a service, such as %s", m.url, defaultURL)}
	}
	return m, nil
}

// client returns a client of the service at url. It sends the key only to create mailboxes: what is done with an existing
// one is authenticated by its own token.
func (m *mailboxes) client(url string) *inbox.Client {
	return &inbox.Client{URL: url, Key: m.key, Clock: clock.System()}
}

// find returns the mailbox with an address, or the newest one if address is empty, and the client of its service.
// Letter case does not matter.
func (m *mailboxes) find(address string) (*inbox.Mailbox, *inbox.Client, error) {
	all, err := m.List(m.url, clock.System().Now())
	if err != nil {
		return nil, nil, err
	}
	for _, box := range all {
		if address == "" || strings.EqualFold(box.Address, address) {
			return box, m.client(box.URL), nil
		}
	}
	if address != "" {
		return nil, nil, fmt.Errorf("no token of %s is kept, or it has expired: gonebox inbox list --mailboxes shows what there is", visible(address))
	}
	return nil, nil, errors.New("there is no mailbox: create one with gonebox inbox new")
}

// create creates a mailbox and stores its token. If the token cannot be stored, the mailbox is returned with the
// error.
func (m *mailboxes) create(c *console, f *newFlags) (*inbox.Mailbox, *inbox.Client, error) {
	client := m.client(cmp.Or(m.url, defaultURL))
	box, err := client.New(c, f.Domain, f.Name, f.TTL)
	if err != nil {
		return nil, nil, err
	}
	return box, client, m.Add(box)
}

// newFlags say how a mailbox is created. The service chooses the values of flags that are not set.
type newFlags struct {
	Domain string        `placeholder:"DOMAIN" help:"Domain of the address."`
	Name   string        `placeholder:"NAME" help:"Part of the address before the @."`
	TTL    time.Duration `placeholder:"DURATION" help:"How long the mailbox lives, for example 2h."`
}

type inboxNewCmd struct {
	serviceFlags
	newFlags
	JSON bool `help:"Print JSON, without the token."`
}

// Help is shown below the flags of the command.
func (*inboxNewCmd) Help() string {
	return `Prints the address alone where the output is not a terminal.

Example:
  address=$(gonebox inbox new --ttl 2h)`
}

// Run creates a mailbox.
func (n *inboxNewCmd) Run(c *console) error {
	m, err := n.open(c)
	if err != nil {
		return err
	}
	box, _, err := m.create(c, &n.newFlags)
	switch {
	case err != nil:
		return err
	case n.JSON:
		return printJSON(c.out, inboxRowOf(box))
	}
	fmt.Fprintln(c.out, visible(box.Address))
	if isTerminal(c.out) {
		fmt.Fprintf(c.out, "It lives until %s. gonebox inbox code waits for its code.\n", box.ExpiresAt.Local().Format(time.DateTime))
	}
	return nil
}

// inboxRow is a mailbox of this user as it is printed. The token is left out, since output is often logged.
type inboxRow struct {
	Address   string    `json:"address"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

func inboxRowOf(m *inbox.Mailbox) inboxRow { return inboxRow{m.Address, m.URL, m.ExpiresAt} }

type inboxListCmd struct {
	serviceFlags
	Address   string `arg:"" optional:"" help:"Mailbox; default: the newest."`
	Mailboxes bool   `help:"List the mailboxes whose tokens are kept."`
	JSON      bool   `help:"Print JSON."`
}

// Help is shown below the flags of the command.
func (*inboxListCmd) Help() string {
	return `Example:
  gonebox inbox list`
}

// Run lists messages or mailboxes.
func (l *inboxListCmd) Run(c *console) error {
	m, err := l.open(c)
	if err != nil {
		return err
	}
	if l.Mailboxes {
		return l.mailboxes(c, m)
	}
	box, client, err := m.find(l.Address)
	if err != nil {
		return err
	}
	all, err := client.List(c, box)
	switch {
	case err != nil:
		return err
	case l.JSON:
		return printJSON(c.out, append([]inbox.Summary{}, all...))
	}
	fmt.Fprintf(c.out, "%s, until %s\n", visible(box.Address), box.ExpiresAt.Local().Format(time.DateTime))
	rows := [][]string{{"ID", "RECEIVED", "FROM", "SUBJECT", "CODE"}}
	for _, s := range all {
		rows = append(rows, []string{visible(s.ID), s.ReceivedAt.Local().Format(time.DateTime), visible(s.From.Address), visible(s.Subject), visible(s.Code())})
	}
	return printTable(c.out, rows)
}

// mailboxes lists the mailboxes whose tokens are stored and have not expired.
func (l *inboxListCmd) mailboxes(c *console, m *mailboxes) error {
	all, err := m.List(m.url, clock.System().Now())
	if err != nil {
		return err
	}
	listed := make([]inboxRow, len(all))
	rows := [][]string{{"ADDRESS", "EXPIRES", "SERVICE"}}
	for i, box := range all {
		listed[i] = inboxRowOf(box)
		rows = append(rows, []string{visible(box.Address), box.ExpiresAt.Local().Format(time.DateTime), visible(box.URL)})
	}
	if l.JSON {
		return printJSON(c.out, listed)
	}
	return printTable(c.out, rows)
}

type inboxEndCmd struct {
	serviceFlags
	Address string `arg:"" optional:"" help:"Mailbox; default: the newest."`
}

// Help is shown below the flags of the command.
func (*inboxEndCmd) Help() string {
	return `Erases the messages of the mailbox at once, and forgets its token.

Example:
  gonebox inbox end quiet-otter-4821@gonebox.localhost`
}

// Run destroys a mailbox and removes its token from the store. It is not an error if the mailbox has already ended.
func (e *inboxEndCmd) Run(c *console) error {
	m, err := e.open(c)
	if err != nil {
		return err
	}
	box, client, err := m.find(e.Address)
	if err != nil {
		return err
	}
	if err := client.End(c, box); err != nil {
		var problem *inbox.Error
		if !errors.As(err, &problem) || problem.Code != "auth.invalid_token" { // with that code the mailbox has already ended
			return err
		}
	}
	if err := m.Remove(box); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, err = fmt.Fprintf(c.out, "Ended %s.\n", visible(box.Address))
	return err
}
