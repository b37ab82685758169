package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/inbox"
)

type inboxCodeCmd struct {
	serviceFlags
	newFlags
	Address string        `arg:"" optional:"" help:"Mailbox; default: the newest."`
	New     bool          `help:"Create a mailbox first and print its address."`
	Timeout time.Duration `default:"60s" placeholder:"DURATION" help:"How long to wait (default ${default})."`
	From    string        `placeholder:"TEXT" help:"Only from senders that contain this."`
}

// Help is shown below the flags of the command.
func (*inboxCodeCmd) Help() string {
	return `Prints the newest code, which may be there already. Exits with status 1 if none comes in time.

Example:
  gonebox inbox code --timeout 2m --from example.org`
}

// Run waits for a code.
func (w *inboxCodeCmd) Run(c *console) error {
	m, err := w.open(c)
	if err != nil {
		return err
	}
	box, client, err := w.mailbox(c, m)
	if err != nil {
		return err
	}
	found, err := waitFor(c, client, box, inbox.Filter{From: w.From, Has: []string{"code"}}, w.Timeout)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, visible(found.Code()))
	return err
}

// mailbox returns the mailbox to wait in. With --new it creates it and prints its address before it waits, so that a
// script can use the address meanwhile.
func (w *inboxCodeCmd) mailbox(c *console, m *mailboxes) (*inbox.Mailbox, *inbox.Client, error) {
	switch {
	case w.New && w.Address != "":
		return nil, nil, usageError{errors.New("--new creates a mailbox: leave out ADDRESS")}
	case !w.New && (w.newFlags != newFlags{}):
		return nil, nil, usageError{errors.New("--domain, --name and --ttl need --new")}
	case !w.New:
		return m.find(w.Address)
	}
	box, client, err := m.create(c, &w.newFlags)
	if err == nil {
		_, err = fmt.Fprintln(c.out, visible(box.Address))
	}
	return box, client, err
}

type inboxWaitCmd struct {
	serviceFlags
	Address string        `arg:"" optional:"" help:"Mailbox; default: the newest."`
	Timeout time.Duration `default:"60s" placeholder:"DURATION" help:"How long to wait (default ${default})."`
	From    string        `placeholder:"TEXT" help:"Only from senders that contain this."`
	Subject string        `placeholder:"TEXT" help:"Only with a subject that contains this."`
	Has     []string      `enum:"code,link,attachment" placeholder:"code|link|attachment" help:"Only with a code, a link or an attachment. May be repeated."`
	JSON    bool          `help:"Print JSON."`
}

// Help is shown below the flags of the command.
func (*inboxWaitCmd) Help() string {
	return `Prints the newest message that matches, which may be there already. Exits with status 1 if none comes in time.

Example:
  gonebox inbox wait --subject invoice --has attachment`
}

// Run waits for a message.
func (w *inboxWaitCmd) Run(c *console) error {
	m, err := w.open(c)
	if err != nil {
		return err
	}
	box, client, err := m.find(w.Address)
	if err != nil {
		return err
	}
	found, err := waitFor(c, client, box, inbox.Filter{From: w.From, Subject: w.Subject, Has: w.Has}, w.Timeout)
	if err != nil {
		return err
	}
	full, err := client.Read(c, box, found.ID)
	if err != nil {
		return err
	}
	return printMessage(c.out, full, w.JSON)
}

// waitFor waits for a message that matches, for at most timeout, with a spinner on standard error if that is a
// terminal.
func waitFor(c *console, client *inbox.Client, box *inbox.Mailbox, f inbox.Filter, timeout time.Duration) (*inbox.Summary, error) {
	stop := startSpinner(c.err, "waiting for mail to "+visible(box.Address))
	found, err := client.Wait(c, box, f, timeout)
	stop()
	if errors.Is(err, inbox.ErrTimeout) {
		return nil, fmt.Errorf("nothing that matches came to %s within %v", visible(box.Address), timeout)
	}
	return found, err
}

// startSpinner shows on a terminal that something is in progress, until the returned function is called. It starts a
// goroutine, which the returned function stops and waits for, so that later output does not mix with the spinner. If w is
// not a terminal, startSpinner does nothing.
func startSpinner(w io.Writer, text string) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		begun := clock.System().Now()
		for i := 0; ; i++ {
			fmt.Fprintf(w, "\r%c %s, %d s", `|/-\`[i%4], text, int(clock.System().Now().Sub(begun).Seconds()))
			timer := clock.System().NewTimer(time.Second / 8)
			select {
			case <-timer.C:
			case <-end:
				timer.Stop()
				fmt.Fprint(w, "\r\x1b[K") // clears the line
				return
			}
		}
	})
	return func() { close(end); done.Wait() }
}

// isTerminal reports whether output goes to a terminal, or to another character device.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type inboxShowCmd struct {
	serviceFlags
	ID      string `arg:"" optional:"" help:"Message; default: the newest."`
	Mailbox string `placeholder:"ADDRESS" help:"Mailbox; default: the newest."`
	JSON    bool   `help:"Print JSON."`
}

// Help is shown below the flags of the command.
func (*inboxShowCmd) Help() string {
	return `Example:
  gonebox inbox show`
}

// Run prints a message.
func (s *inboxShowCmd) Run(c *console) error {
	box, client, id, err := s.message(c, s.Mailbox, s.ID)
	if err != nil {
		return err
	}
	full, err := client.Read(c, box, id)
	if err != nil {
		return err
	}
	return printMessage(c.out, full, s.JSON)
}

// message finds a message of a mailbox, the newest if id is empty.
func (f *serviceFlags) message(c *console, address, id string) (*inbox.Mailbox, *inbox.Client, string, error) {
	m, err := f.open(c)
	if err != nil {
		return nil, nil, "", err
	}
	box, client, err := m.find(address)
	if err != nil || id != "" {
		return box, client, id, err
	}
	all, err := client.List(c, box)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no messages", visible(box.Address))
	}
	if err != nil {
		return nil, nil, "", err
	}
	return box, client, all[0].ID, nil
}

// printMessage prints a message, as JSON or as text. In text, characters that could control the terminal are replaced.
func printMessage(w io.Writer, m *inbox.Message, asJSON bool) error {
	if asJSON {
		return printJSON(w, m)
	}
	fmt.Fprintf(w, "From:        %s\n", visible(strings.TrimSpace(m.From.Name+" <"+m.From.Address+">")))
	fmt.Fprintf(w, "Subject:     %s\n", visible(m.Subject))
	fmt.Fprintf(w, "Received:    %s\n", m.ReceivedAt.Local().Format(time.DateTime))
	if code := m.Code(); code != "" {
		fmt.Fprintf(w, "Code:        %s\n", visible(code))
	}
	for _, link := range m.Links {
		fmt.Fprintf(w, "Link:        %s\n", visible(link))
	}
	for _, a := range m.Attachments {
		fmt.Fprintf(w, "Attachment:  %s, %d octets\n", visible(cmp.Or(a.Filename, a.ID)), a.Size)
	}
	fmt.Fprintln(w)
	for line := range strings.Lines(strings.ReplaceAll(m.Text, "\r\n", "\n")) {
		fmt.Fprintln(w, visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")))
	}
	return nil
}

type inboxSaveCmd struct {
	serviceFlags
	ID      string `arg:"" optional:"" help:"Message; default: the newest."`
	File    string `arg:"" optional:"" help:"File to write, - for standard output; default: the message's id with .eml."`
	Mailbox string `placeholder:"ADDRESS" help:"Mailbox; default: the newest."`
}

// Help is shown below the flags of the command.
func (*inboxSaveCmd) Help() string {
	return `The service keeps messages as they were received for a short time only.

Example:
  gonebox inbox save mail.eml`
}

// Run saves a message. A single argument is the message if it looks like an identifier, otherwise the file.
func (s *inboxSaveCmd) Run(c *console) error {
	id, name := s.ID, s.File
	if name == "" && id != "" && !strings.HasPrefix(id, "msg_") {
		id, name = "", id
	}
	box, client, id, err := s.message(c, s.Mailbox, id)
	if err != nil {
		return err
	}
	raw, err := client.Raw(c, box, id)
	if err != nil {
		return err
	}
	if name == "-" {
		_, err = c.out.Write(raw)
		return err
	}
	name = cmp.Or(name, filepath.Base(id)+".eml")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "Saved %s.\n", visible(name))
	return err
}
