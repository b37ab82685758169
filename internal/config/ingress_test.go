package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

func TestIngressesAreNamedByAnySource(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "box.yaml")
	if err := os.WriteFile(file, []byte("ingress:\n  my-cf: {kind: cloudflare}\n  gun: {kind: mailgun, secret: key}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, []string{
		"GONEBOX_INGRESS_MY_CF_SECRET_FILE=" + secret, "GONEBOX_INGRESS_GRID_KIND=sendgrid", "GONEBOX_INGRESS_GRID_SECRET=x",
		"GONEBOX_INGRESS_HOME_KIND=imap", "GONEBOX_INGRESS_HOME_URL=imaps://imap.example.org", "GONEBOX_INGRESS_HOME_USER=u", "GONEBOX_INGRESS_HOME_PASSWORD=p", "GONEBOX_INGRESS_HOME_MOVE_TO=Done",
	}, map[string]string{"ingress.aws.kind": "ses", "ingress.aws.topic": "arn:aws:sns:eu-west-1:123456789012:mail"})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	var names []string
	for _, in := range c.Ingress {
		names = append(names, in.Name+":"+in.Kind)
	}
	if got, want := strings.Join(names, " "), "aws:ses grid:sendgrid gun:mailgun home:imap my-cf:cloudflare"; got != want {
		t.Errorf("Load found the ingresses %q, want %q", got, want)
	}
	if got := c.Ingress[4].Secret; got != "from the file" {
		t.Errorf("the secret of my-cf is %q, want that of the file", string(got))
	}
	if got := c.Ingress[3]; got.Folder != "INBOX" || got.MoveTo != "Done" {
		t.Errorf("home reads the folder %q and moves to %q, want INBOX and Done", got.Folder, got.MoveTo)
	}
}

func TestIngressHasWhatItsKindNeeds(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"ingress: {in: {}}", "ingress.in.kind"},
		{"ingress: {in: {kind: smtp}}", `ingress.in.kind = "smtp": is none of raw, cloudflare, mailgun, postmark, sendgrid, ses, imap`},
		{"ingress: {in: {secret: x}}", "ingress.in.kind"},
		{"ingress: {in: {kind: raw}}", "needs ingress.in.secret beside it"},
		{"ingress: {in: {kind: mailgun, secret: ''}}", "needs ingress.in.secret beside it"},
		{"ingress: {in: {kind: sendgrid}}", "needs ingress.in.secret or ingress.in.public_key beside it"},
		{"ingress: {in: {kind: sendgrid, public_key: abc}}", "is not an ECDSA public key"},
		{"ingress: {in: {kind: ses}}", "needs ingress.in.topic beside it"},
		{"ingress: {in: {kind: ses, topic: mail}}", "is not the ARN of a topic"},
		{"ingress: {in: {kind: ses, topic: 'arn:aws:sns:eu-west-1:123456789012:mail', secret: x}}", "ingress.in.secret = \"***\": has no meaning for kind: ses"},
		{"ingress: {in: {kind: raw, secret: x, url: 'imaps://h.example'}}", "ingress.in.url"},
		{"ingress: {in: {kind: raw, secret: x, folder: Mail}}", "ingress.in.folder"},
		{"ingress: {in: {kind: imap, user: u, password: p}}", "needs ingress.in.url beside it"},
		{"ingress: {in: {kind: imap, url: 'imap://imap.example.org', user: u, password: p}}", "would send the password without TLS"},
		{"ingress: {in: {kind: imap, url: 'https://imap.example.org', user: u, password: p}}", "must be imaps://"},
		{"ingress: {in: {kind: imap, url: 'imaps://u:p@imap.example.org', user: u, password: p}}", "must be imaps://"},
		{"ingress: {In: {kind: raw}}", "is not the name of an ingress"},
		{"ingress: {in_1: {kind: raw}}", "is not the name of an ingress"},
		{"ingress: {in: {kind: raw, secrets: x}}", "unknown key; did you mean ingress.in.secret?"},
		{"ingress: raw", "ingress: is a section"},
		{"lmtp: {addr: ':2003'}", "can be reached from other machines"},
		{"lmtp: {addr: '192.0.2.1:2003'}", "can be reached from other machines"},
		{"lmtp: {addr: 'unix:lmtp.sock'}", "is not unix: and the absolute path"},
		{"lmtp: {addr: '2003'}", "is neither unix:/path nor host:port"},
	} {
		file := filepath.Join(t.TempDir(), "box.yaml")
		if err := os.WriteFile(file, []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(file, nil, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Load of %s: %v, want an error with %q", test.file, err, test.want)
		}
	}
	for _, good := range []string{
		"ingress: {in: {kind: imap, url: 'imap://127.0.0.1:143', user: u, password: p}}", "ingress: {in: {kind: imap, url: 'imap://localhost', user: u, password: p, folder: Catch}}",
		"ingress:", "ingress: {}", "lmtp: {addr: '127.0.0.1:2003'}", "lmtp: {addr: '[::1]:2003'}", "lmtp: {addr: 'localhost:2003'}", "lmtp: {addr: 'unix:/run/gonebox/lmtp.sock'}", "lmtp: {addr: ''}",
	} {
		file := filepath.Join(t.TempDir(), "box.yaml")
		if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(file, nil, nil); err != nil {
			t.Errorf("Load of %s: %v, want no error", good, err)
		}
	}
}

// What gonebox config prints has the ingresses, with secrets masked.
func TestPrintedConfigurationHasIngresses(t *testing.T) {
	c, err := config.Load("", nil, map[string]string{"ingress.in.kind": "raw", "ingress.in.secret": "hush"})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := c.WriteYAML(&text, true); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "ingress:\n") || !strings.Contains(got, "    kind: \"raw\"\n") || strings.Contains(got, "hush") {
		t.Errorf("WriteYAML printed\n%s\nwant the ingress without its secret", got)
	}
}
