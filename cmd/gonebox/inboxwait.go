package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/apiclient"
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
	found, err := waitFor(c, client.Wait, box, apiclient.Filter{From: w.From, Has: []string{"code"}}, w.Timeout)
	if err != nil {
		return m.explain(box, err)
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
		return m.find(c, w.Address)
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
	Has     []string      `enum:"code,link,action,attachment" placeholder:"code|link|action|attachment" help:"Only with a code, a link, a link that it asks to open, or an attachment. May be repeated."`
	Link    bool          `help:"Wait for a link, and print nothing but the link to follow; with --json, action is null if the message asks for no link in particular."`
	JSON    bool          `help:"Print JSON."`
}

// Run waits for a message.
func (w *inboxWaitCmd) Run(c *console) error {
	m, err := w.open(c)
	if err != nil {
		return err
	}
	box, client, err := m.find(c, w.Address)
	if err != nil {
		return err
	}
	if w.Link {
		w.Has = append(w.Has, "bestLink")
	}
	full, err := waitFor(c, client.WaitAndRead, box, apiclient.Filter{From: w.From, Subject: w.Subject, Has: w.Has}, w.Timeout)
	if err != nil {
		return m.explain(box, err)
	}
	if w.Link && !w.JSON {
		_, err = fmt.Fprintln(c.out, visible(full.BestLink))
		return err
	}
	return printMessage(c.out, full, w.JSON)
}

// waitFor calls wait, which waits for a message that matches, for at most timeout, with a spinner on standard error if
// that is a terminal. An error names the mailbox.
func waitFor[M any](
	c *console, wait func(context.Context, *inbox.Mailbox, apiclient.Filter, time.Duration) (M, error), box *inbox.Mailbox, f apiclient.Filter, timeout time.Duration,
) (M, error) {
	stop := startSpinner(c.err, "waiting for mail to "+visible(box.Address))
	found, err := wait(c, box, f, timeout)
	stop()
	switch {
	case errors.Is(err, apiclient.ErrTimeout):
		text := fmt.Sprintf("nothing that matches came to %s within %v", visible(box.Address), timeout)
		if d := apiclient.DiagnosisOf(err); d != nil {
			text += ": " + visible(d.Summary)
		}
		return found, errors.New(text)
	case err != nil:
		return found, fmt.Errorf("waiting for mail to %s: %w", visible(box.Address), err)
	}
	return found, nil
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
	box, client, err := m.find(c, address)
	if err != nil || id != "" {
		return box, client, id, err
	}
	all, err := client.List(c, box)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no messages", visible(box.Address))
	}
	if err != nil {
		return nil, nil, "", m.explain(box, err)
	}
	return box, client, all[0].ID, nil
}

// printMessage prints a message, as JSON or as text. In text, characters that could control the terminal are replaced.
func printMessage(w io.Writer, m *inbox.Message, asJSON bool) error {
	if asJSON {
		return printJSON(w, m)
	}
	fmt.Fprintf(w, "From:        %s\n", visible(strings.TrimSpace(m.From.Name+" <"+m.From.Address+">")))
	fmt.Fprintf(w, "Sender:      %s\n", senderOf(m))
	fmt.Fprintf(w, "Subject:     %s\n", visible(m.Subject))
	fmt.Fprintf(w, "Received:    %s\n", m.ReceivedAt.Local().Format(time.DateTime))
	if code := m.Code(); code != "" {
		fmt.Fprintf(w, "Code:        %s\n", visible(code))
	}
	if a := m.Action; a != nil {
		fmt.Fprintf(w, "Action:      %s, %s\n", visible(a.Kind), visible(a.URL))
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

// senderOf reports whether the sender is verified, in words.
func senderOf(m *inbox.Message) string {
	a := m.Authentication
	if !a.Verified || a.Domain == nil {
		return "not verified"
	}
	return "verified, " + visible(*a.Domain)
}

type inboxSaveCmd struct {
	serviceFlags
	ID      string `arg:"" optional:"" help:"Message; default: the newest."`
	File    string `arg:"" optional:"" help:"File to write, - for standard output; default: the message's id with .eml."`
	Mailbox string `placeholder:"ADDRESS" help:"Mailbox; default: the newest."`
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
