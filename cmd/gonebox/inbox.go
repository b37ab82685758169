package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
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
	return m, cmp.Or(checkURL(m.url), checkKey(m.key))
}

// checkURL returns a usageError for what is not the URL of a service. "" is one that was not named. A key in its place is
// not shown, since the output of commands is often logged.
func checkURL(text string) error {
	if u, err := url.Parse(text); text == "" || err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil
	}
	shown := strconv.Quote(text)
	for _, prefix := range []string{"x_", "xu_", "xm_"} {
		if strings.Contains(text, prefix) {
			shown = "a key"
		}
	}
	return usageError{fmt.Errorf("%s is not the URL of a service, such as %s", shown, defaultURL)}
}

// checkKey returns a usageError for a key that cannot be sent, without the key. "" is none.
func checkKey(key string) error {
	if !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil
	}
	return usageError{errors.New("the key has characters that no key has, such as a line break at its end: pass it as the service showed it")}
}

// client returns a client of the service at url. It sends the key only to create mailboxes: what is done with an existing
// one is authenticated by its own token.
func (m *mailboxes) client(url string) *inbox.Client {
	return &inbox.Client{URL: url, Key: m.key, Clock: clock.System()}
}

// find returns the mailbox with an address, or the newest one if address is empty, and the client of its service.
// Letter case does not matter. Mailboxes that have ended are left out, and forgotten.
func (m *mailboxes) find(c *console, address string) (*inbox.Mailbox, *inbox.Client, error) {
	all, err := m.List(m.url)
	if err != nil {
		return nil, nil, err
	}
	for _, box := range all {
		if address != "" && !strings.EqualFold(box.Address, address) {
			continue
		}
		ended, err := m.checkEnded(c, box)
		if err != nil {
			return nil, nil, err
		}
		if !ended {
			return box, m.client(box.URL), nil
		}
	}
	if address != "" {
		return nil, nil, fmt.Errorf("no token of %s is kept, or it has ended: gonebox inbox list --mailboxes shows what there is", visible(address))
	}
	return nil, nil, errors.New("there is no mailbox: create one with gonebox inbox new")
}

// checkEnded reports whether a mailbox has ended, and forgets it if so. The clock of this machine may be wrong, so it only
// decides whether the service is asked. If the service cannot be asked, the mailbox has not ended as far as is known.
func (m *mailboxes) checkEnded(c *console, box *inbox.Mailbox) (bool, error) {
	if box.ExpiresAt.After(clock.System().Now()) {
		return false, nil
	}
	stored := box.ExpiresAt
	err := m.client(box.URL).Refresh(c, box)
	switch {
	case inbox.HasEnded(err):
		return true, m.forget(box)
	case err == nil && !box.ExpiresAt.Equal(stored):
		return false, m.Add(box)
	}
	return false, nil
}

// forget removes the token of a mailbox. Another command may have removed it before.
func (m *mailboxes) forget(box *inbox.Mailbox) error {
	if err := m.Remove(box); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// explain returns err, the result of a call for a mailbox. If it says that the mailbox has ended, explain forgets the
// mailbox, so that the next command means another one.
func (m *mailboxes) explain(box *inbox.Mailbox, err error) error {
	if !inbox.HasEnded(err) {
		return err
	}
	return errors.Join(fmt.Errorf("%s has ended: %w", visible(box.Address), err), m.forget(box))
}

// prunedMax is how many mailboxes of the same service a new one has checked, so that ended ones do not pile up.
const prunedMax = 4

// create creates a mailbox and stores its token. If the token cannot be stored, the mailbox is returned with the
// error.
func (m *mailboxes) create(c *console, f *newFlags) (*inbox.Mailbox, *inbox.Client, error) {
	client := m.client(cmp.Or(m.url, defaultURL))
	box, err := client.New(c, f.Domain, f.Name, f.TTL)
	if err != nil {
		return nil, nil, err
	}
	if err := m.Add(box); err != nil {
		return box, client, err
	}
	return box, client, m.prune(c, client.URL)
}

// prune forgets ended mailboxes of the service at url, the oldest first and prunedMax of them at most.
func (m *mailboxes) prune(c *console, url string) error {
	all, err := m.List(url)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	checked := 0
	for _, box := range all {
		if box.ExpiresAt.After(clock.System().Now()) {
			continue
		}
		if checked++; checked > prunedMax {
			break
		}
		if _, err := m.checkEnded(c, box); err != nil {
			return err
		}
	}
	return nil
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
		fmt.Fprintf(c.out, "It lives for %v. gonebox inbox code waits for its code.\n", box.ExpiresAt.Sub(box.CreatedAt).Round(time.Second))
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

// Run lists messages or mailboxes.
func (l *inboxListCmd) Run(c *console) error {
	m, err := l.open(c)
	if err != nil {
		return err
	}
	if l.Mailboxes {
		return l.mailboxes(c, m)
	}
	box, client, err := m.find(c, l.Address)
	if err != nil {
		return err
	}
	all, err := client.List(c, box)
	switch {
	case err != nil:
		return m.explain(box, err)
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

// mailboxes lists the mailboxes whose tokens are stored and that have not ended.
func (l *inboxListCmd) mailboxes(c *console, m *mailboxes) error {
	all, err := m.List(m.url)
	if err != nil {
		return err
	}
	listed := []inboxRow{}
	rows := [][]string{{"ADDRESS", "EXPIRES", "SERVICE"}}
	for _, box := range all {
		switch ended, err := m.checkEnded(c, box); {
		case err != nil:
			return err
		case ended:
			continue
		}
		listed = append(listed, inboxRowOf(box))
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

// Run destroys a mailbox and removes its token from the store. It is not an error if the mailbox has already ended.
func (e *inboxEndCmd) Run(c *console) error {
	m, err := e.open(c)
	if err != nil {
		return err
	}
	box, client, err := m.find(c, e.Address)
	if err != nil {
		return err
	}
	if err := client.End(c, box); err != nil && !inbox.HasEnded(err) {
		return err
	}
	if err := m.forget(box); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "Ended %s.\n", visible(box.Address))
	return err
}
