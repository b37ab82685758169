package system_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// foreign runs another program, which must succeed, and returns its output.
func foreign(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("run %s: %v\n%s", name, err, out)
	}
	return string(out)
}

func TestSwaks(t *testing.T) {
	t.Parallel()
	swaks := need(t, "swaks")
	s := start(t, options{set: certificate(t, "mx.gonebox.localhost")})
	a, b := s.newMailbox(), s.newMailbox()
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("attached notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	common := []string{"--server", s.smtp, "--from", "sender@example.org", "--helo", "client.test"}
	for subject, more := range map[string][]string{
		"plain":     {"--to", a.Address},
		"both":      {"--to", a.Address + "," + b.Address},
		"pipelined": {"--to", a.Address + "," + b.Address, "--pipeline"},
		"tls":       {"--to", a.Address, "--tls"},
		"helo":      {"--to", a.Address, "--protocol", "SMTP"},
		"attached":  {"--to", b.Address, "--attach", "@" + file},
		"bounce":    {"--to", b.Address, "--from", "<>"},
	} {
		args := append(append([]string{}, common...), more...)
		foreign(t, swaks, append(args, "--header", "Subject: "+subject, "--body", "a body\n.with a dot\nat a line's beginning")...)
	}
	s.wantAll(a, "plain", "both", "pipelined", "tls", "helo")
	s.wantAll(b, "both", "pipelined", "attached", "bounce")
	tls := s.named(a, "tls")
	if !tls.Envelope.TLS || !strings.Contains(tls.Text, "\n.with a dot\n") {
		t.Errorf("the mail over TLS is %+v, want TLS in its envelope and the line .with a dot", tls)
	}
	attached := s.named(b, "attached")
	if len(attached.Attachments) != 1 || attached.Attachments[0].Filename != "notes.txt" {
		t.Errorf("the attachments are %+v, want notes.txt alone", attached.Attachments)
	}
	if from := s.named(b, "bounce").Envelope.From; from != "" {
		t.Errorf("the bounce came from %q, want an empty sender", from)
	}
}

// TestSMTPSource has Postfix's load generator send over many concurrent sessions.
func TestSMTPSource(t *testing.T) {
	t.Parallel()
	source := need(t, "smtp-source")
	s := start(t, options{})
	for local, more := range map[string][]string{
		"single": nil,
		"reused": {"-d"},
		"large":  {"-d", "-l", "100000"},
		"slowly": {"-s", "50", "-R", "1"},
	} {
		t.Run(local, func(t *testing.T) {
			t.Parallel()
			a := api{t: t, url: s.url}
			box := a.newMailbox("localPart", local)
			a.flood(source, s.smtp, box.Address, more...)
			a.wantFlood(box)
		})
	}
	t.Run("two recipients", func(t *testing.T) { // the second one's name has its number in front
		t.Parallel()
		a := api{t: t, url: s.url}
		one, two := a.newMailbox("localPart", "twice"), a.newMailbox("localPart", "2twice")
		a.flood(source, s.smtp, "twice@gonebox.localhost", "-r", "2", "-d")
		a.wantFlood(one)
		a.wantFlood(two)
	})
}

const floodMails = 300

func (a api) flood(source, addr, to string, more ...string) {
	a.t.Helper()
	args := []string{"-s", "8", "-m", fmt.Sprint(floodMails), "-l", "8000", "-f", "sender@example.org", "-t", to, "-S", "by the hundred"}
	foreign(a.t, source, append(append(args, more...), addr)...)
}

func (a api) wantFlood(box mailbox) {
	a.t.Helper()
	list := a.messages(box)
	if len(list) != floodMails || a.refresh(box).MessageCount != floodMails {
		a.t.Errorf("%d messages are in %s, want %d", len(list), box.Address, floodMails)
	}
	for _, m := range list {
		if m.Subject != "by the hundred" || m.Size < 7000 {
			a.t.Fatalf(`a message is %+v, want Subject "by the hundred" and Size at least 7000`, m)
		}
	}
}

func TestSmtplib(t *testing.T) {
	t.Parallel()
	python := need(t, "python3")
	set := certificate(t, "mx.gonebox.localhost")
	s := start(t, options{set: set})
	a, b := s.newMailbox(), s.newMailbox()
	host, port, _ := net.SplitHostPort(s.smtp)
	foreign(t, python, "testdata/senders.py", host, port, set["smtp.tls.cert"], a.Address, b.Address)

	s.wantSubjects(a, "plain", "two", "utf8 ü đ", "eight", "tls", "partly", "attached")
	s.wantSubjects(b, "two")
	if m := s.named(a, "plain"); m.Text != "Hello.\n.dots\n..more dots\n" {
		t.Errorf(`the plain mail says %q, want Text "Hello.\n.dots\n..more dots\n"`, m.Text)
	}
	if m := s.named(a, "utf8 ü đ"); m.Text != "Chào bạn.\n" || m.From.Address != "jürgen@example.org" || m.Envelope.From != m.From.Address {
		t.Errorf("the mail in UTF-8 is %+v, want its text, and jürgen@example.org as its author and its sender", m)
	}
	if m := s.named(a, "eight"); m.Text != "Grüße.\n" {
		t.Errorf(`the mail in eight bits says %q, want Text "Grüße.\n"`, m.Text)
	}
	if m := s.named(a, "tls"); !m.Envelope.TLS {
		t.Errorf("the envelope of the mail over TLS is %+v, want TLS in it", m.Envelope)
	}
	files := s.named(a, "attached").Attachments
	if len(files) != 1 || files[0].Filename != "octets.bin" || files[0].Size != 256*400 {
		t.Errorf("the attachments are %+v, want octets.bin of %d octets alone", files, 256*400)
	}
}

func TestCurl(t *testing.T) {
	t.Parallel()
	curl := need(t, "curl")
	if !strings.Contains(foreign(t, curl, "--version"), " smtp ") {
		t.Skip("this curl has no SMTP")
	}
	set := certificate(t, "mx.gonebox.localhost")
	s := start(t, options{set: set})
	a, b := s.newMailbox(), s.newMailbox()
	m := sampleMail("by curl", "one\r\n.two\r\n..three")
	file := filepath.Join(t.TempDir(), "mail")
	if err := os.WriteFile(file, m, 0o600); err != nil {
		t.Fatal(err)
	}
	foreign(t, curl, "--silent", "--show-error", "--url", "smtp://"+s.smtp+"/client.test", "--ssl-reqd", "--insecure",
		"--mail-from", "sender@example.org", "--mail-rcpt", a.Address, "--mail-rcpt", b.Address, "--upload-file", file)
	for _, box := range []mailbox{a, b} {
		got := s.only(box)
		if _, raw := s.raw(box, got.ID); string(raw) != string(m) || !got.Envelope.TLS {
			t.Errorf("%s got, over TLS: %t, %q, want it over TLS, and %q", box.Address, got.Envelope.TLS, raw, string(m))
		}
	}
}

// wantAll checks which subjects a mailbox holds, in any order.
func (a api) wantAll(box mailbox, want ...string) {
	a.t.Helper()
	list := a.messages(box)
	if len(list) != len(want) {
		a.t.Errorf("%s holds %d messages, want %q", box.Address, len(list), want)
	}
	for _, subject := range want {
		a.named(box, subject)
	}
}

// named returns the one message of a mailbox with a subject, in full.
func (a api) named(box mailbox, subject string) message {
	a.t.Helper()
	var found []message
	for _, m := range a.messages(box) {
		if m.Subject == subject {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		a.t.Fatalf("%s holds %d messages with the subject %q, want 1", box.Address, len(found), subject)
	}
	return a.read(box, found[0].ID)
}
