package system_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/smtpd/dialogtest"
)

// portable returns the dialogs of test/dialogs that any server can run, each with a domain of its own.
func portable(t *testing.T) (sources []dialogtest.Source, domains []string) {
	t.Helper()
	all, err := dialogtest.Sources("../dialogs/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range all {
		d, err := source.Dialog(map[string]string{"hostname": "h", "domain": "d", "address": "a@d"})
		if err != nil {
			t.Fatal(err)
		}
		if d.Portable() {
			domains = append(domains, fmt.Sprintf("dialog-%d.test", len(sources)))
			sources = append(sources, source)
		}
	}
	return sources, domains
}

// TestDialogs plays the portable dialogs against the program. What they say about delivery is checked over HTTP.
func TestDialogs(t *testing.T) {
	t.Parallel()
	const hostname = "mx.example.test"
	sources, domains := portable(t)
	set := certificate(t, hostname)
	set["smtp.hostname"], set["domains"] = hostname, strings.Join(domains, ",")
	s := start(t, options{set: set})
	for i, source := range sources {
		t.Run(source.Name, func(t *testing.T) {
			t.Parallel()
			a := api{t: t, url: s.url}
			first := a.newMailbox("domain", domains[i])
			boxes := append(a.mailboxesIn(source.Text, domains[i]), first)
			d, err := source.Dialog(map[string]string{"hostname": hostname, "domain": domains[i], "address": first.Address})
			if err != nil {
				t.Fatal(err)
			}
			player := dialogtest.Player{Addr: s.smtp, TLS: &tls.Config{InsecureSkipVerify: true}}
			if err := player.Play(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			a.wantDelivered(d, boxes)
		})
	}
}

var recipient = regexp.MustCompile(`([a-z0-9._-]+)"?@\$\{domain\}`)

// mailboxesIn makes a mailbox for every address in the dialog that is valid for one.
func (a api) mailboxesIn(dialog, domain string) (boxes []mailbox) {
	a.t.Helper()
	var made []string
	for _, found := range recipient.FindAllStringSubmatch(dialog, -1) {
		if slices.Contains(made, found[1]) {
			continue
		}
		made = append(made, found[1])
		status, body := a.call(http.MethodPost, "/mailboxes", "", map[string]string{"domain": domain, "localPart": found[1]})
		if status == http.StatusCreated {
			boxes = append(boxes, decode[mailbox](a.t, body))
		}
	}
	return boxes
}

// wantDelivered checks that the mailboxes hold the mails of the dialog, in its order, and no others.
func (a api) wantDelivered(d *dialogtest.Dialog, boxes []mailbox) {
	a.t.Helper()
	for _, box := range boxes {
		var want []dialogtest.Delivery
		for _, v := range d.Delivered {
			if slices.ContainsFunc(v.To, func(to string) bool { return leadsTo(to, box.Address) }) {
				want = append(want, v)
			}
		}
		list := a.messages(box)
		slices.Reverse(list)
		if len(list) != len(want) {
			a.t.Errorf("%s holds %d messages, want %d", box.Address, len(list), len(want))
			continue
		}
		for i, m := range list {
			a.wantDelivery(box, a.read(box, m.ID), want[i])
		}
	}
	for _, v := range d.Delivered {
		for _, to := range v.To {
			if !slices.ContainsFunc(boxes, func(box mailbox) bool { return leadsTo(to, box.Address) }) {
				a.t.Errorf("the dialog delivers to %s, want a mailbox of this test", to)
			}
		}
	}
}

func (a api) wantDelivery(box mailbox, m message, want dialogtest.Delivery) {
	a.t.Helper()
	trace, raw := a.raw(box, m.ID)
	if string(raw) != want.Data {
		a.t.Errorf("%s got %.300q, want %.300q", box.Address, raw, want.Data)
	}
	if m.Envelope.From != want.From {
		a.t.Errorf("%s got mail from <%s>, want <%s>", box.Address, m.Envelope.From, want.From)
	}
	for _, to := range m.Envelope.To {
		if !slices.Contains(want.To, to) {
			a.t.Errorf("%s got mail for %s, want one of %v", box.Address, to, want.To)
		}
	}
	if want.With != "" && !regexp.MustCompile(`\swith `+want.With+`\s`).Match(trace) {
		a.t.Errorf("%s got mail with the trace %s, want it sent with %s", box.Address, trace, want.With)
	}
}

// leadsTo reports whether mail for a forward-path reaches a mailbox (docs/spec/mailboxes.md#addresses).
func leadsTo(path, address string) bool {
	local, domain, _ := strings.Cut(strings.ToLower(path), "@")
	if unquoted, ok := strings.CutPrefix(local, `"`); ok {
		local = strings.ReplaceAll(strings.TrimSuffix(unquoted, `"`), `\`, "")
	}
	local, _, _ = strings.Cut(local, "+")
	return local+"@"+strings.TrimSuffix(domain, ".") == address
}
