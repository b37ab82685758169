package system_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartLogsAddresses(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"domains": "box.example.org"}})
	_, smtpPort, _ := net.SplitHostPort(s.smtp)
	var said string
	await(t, "the greeting", func() bool { // it is ready before it has said so
		said = s.proc.out.String()
		return strings.Contains(said, "Try: ") && strings.HasSuffix(said, "\n")
	})
	for _, want := range []string{s.url, "http://" + s.http + "/docs", smtpPort, "box.example.org", s.dir} {
		if !strings.Contains(said, want) {
			t.Errorf("the greeting does not say %q:\n%s", want, said)
		}
	}
	_, try, found := strings.Cut(said, "Try: ")
	if !found || strings.TrimSpace(try) != "curl -X POST "+s.url+"/mailboxes" {
		t.Errorf("the next command is %q", try)
	}
	status, _ := s.call(http.MethodPost, "/mailboxes", "", nil)
	if status != http.StatusCreated {
		t.Errorf("the next command would get %d", status)
	}
}

// TestStartFailureIsOneLine checks that an error at the start is printed in one line, with exit status 1.
func TestStartFailureIsOneLine(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	file := filepath.Join(t.TempDir(), "gonebox.yaml")
	if err := os.WriteFile(file, []byte("smtp:\n  adr: \":25\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want []string // in the line
	}{
		"unknown key":               {[]string{"--set", "smtp.adress=:25"}, []string{"smtp.adress", "unknown key"}},
		"unknown key in the file":   {[]string{"--config", file}, []string{"gonebox.yaml", "smtp.adr", "unknown key"}},
		"bad value":                 {[]string{"--set", "session.idle=soon"}, []string{"session.idle", "soon"}},
		"HTTP port taken":           {[]string{"--http-addr", s.http}, []string{"http.addr", s.http, "in use"}},
		"SMTP port taken":           {[]string{"--smtp-addr", s.smtp}, []string{"smtp.addr", s.smtp, "in use"}},
		"data folder in use":        {[]string{"--data-dir", s.dir}, []string{s.dir, "in use by another process"}},
		"data folder cannot be one": {[]string{"--data-dir", file}, []string{"gonebox.yaml"}},
		"no certificate":            {[]string{"--set", "smtp.tls.cert=" + file, "--set", "smtp.tls.key=" + file}, []string{"smtp.tls"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"serve", "--data-dir", t.TempDir(), "--set", "http.addr=127.0.0.1:0", "--set", "smtp.addr=127.0.0.1:0"}, c.args...)
			code, out, err := command(t, args...)
			if code != 1 || strings.Count(err, "\n") != 1 || out != "" {
				t.Errorf("status %d, stdout %q, stderr %q", code, out, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err, want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// TestDomainCommands changes the domains of a service while it runs.
func TestDomainCommands(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"mailbox.erase_every": "200ms"}})
	admin := func(args ...string) string {
		t.Helper()
		code, out, err := command(t, append([]string{"domain"}, append(args, "--data-dir", s.dir)...)...)
		if code != 0 || err != "" {
			t.Fatalf("gonebox domain %v: status %d, %q", args, code, err)
		}
		return out
	}
	const name = "added.example.org"
	wantReply(t, "before", send(t, s.smtp, letter("early", "early"), "anybody@"+name), "550 5.7.1 ")
	admin("add", name)
	await(t, "the new domain", func() bool { return s.offers(name) })
	box := s.newMailbox("domain", name)
	wantReply(t, "added", send(t, s.smtp, letter("hello", "hello"), box.Address), "250 ")
	s.wantSubjects(box, "hello")

	admin("disable", name)
	await(t, "the end of the domain", func() bool { return !s.offers(name) })
	if status, body := s.call(http.MethodPost, "/mailboxes", "", map[string]string{"domain": name}); status != http.StatusUnprocessableEntity {
		t.Errorf("a mailbox in a disabled domain: %d %s", status, body)
	}
	wantReply(t, "disabled", send(t, s.smtp, letter("still", "still"), box.Address), "250 ")
	if out := admin("list"); !strings.Contains(out, name) || !strings.Contains(out, "disabled") {
		t.Errorf("the list is\n%s", out)
	}
	admin("add", name)
	await(t, "the domain once more", func() bool { return s.offers(name) })

	code, _, err := command(t, "domain", "disable", "unknown.example.org", "--data-dir", s.dir)
	if code != 1 || strings.Count(err, "\n") != 1 || !strings.Contains(err, "unknown.example.org") {
		t.Errorf("disable an unknown domain: status %d, %q", code, err)
	}
}

// offers reports whether new mailboxes can be made in a domain.
func (a api) offers(domain string) bool {
	a.t.Helper()
	return strings.Contains(string(a.get("/domains", "")), `"`+domain+`"`)
}

func TestSendCommand(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	box := s.newMailbox()
	code, out, err := command(t, "send", "--server", s.smtp, "--to", box.Address, "--code", "246810")
	if code != 0 || !strings.Contains(out, "246810") {
		t.Fatalf("status %d, %q, %q", code, out, err)
	}
	if m := s.only(box); m.OTP == nil || m.OTP.Code != "246810" || m.Envelope.From != "test@gonebox.localhost" {
		t.Errorf("the mail is %+v", m)
	}
	code, _, err = command(t, "send", "--server", s.smtp, "--to", "unknown@gonebox.localhost")
	if code != 1 || strings.Count(err, "\n") != 1 || !strings.Contains(err, "550") {
		t.Errorf("to an unknown mailbox: status %d, %q", code, err)
	}
}

func TestOtherCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, want := range []string{"from schema version 0 to", "already"} {
		if code, out, err := command(t, "migrate", "--data-dir", dir); code != 0 || !strings.Contains(out, want) {
			t.Errorf("migrate: status %d, %q, %q", code, out, err)
		}
	}
	code, out, err := command(t, "config", "--json", "--set", "smtp.hostname=mx.example.org")
	var cfg struct{ SMTP struct{ Hostname string } }
	if code != 0 || json.Unmarshal([]byte(out), &cfg) != nil || cfg.SMTP.Hostname != "mx.example.org" {
		t.Errorf("config: status %d, %q", code, err)
	}
	code, yaml, _ := command(t, "config")
	file := filepath.Join(dir, "printed.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, out, err := command(t, "config", "--config", file); code != 0 || again != 0 || out != yaml {
		t.Errorf("the output of config is not accepted as configuration: status %d, %q", again, err)
	}
	if code, out, _ := command(t, "version"); code != 0 || !strings.HasPrefix(out, "gonebox ") {
		t.Errorf("version: status %d, %q", code, out)
	}
}
