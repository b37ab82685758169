package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// shellUser is a person at a shell with a configuration folder of their own.
type shellUser struct {
	*apptest.Service
	t    *testing.T
	home string
}

func newUser(t *testing.T) *shellUser {
	return &shellUser{Service: apptest.Start(t, apptest.Options{RealClock: true}), t: t, home: t.TempDir()}
}

func (u *shellUser) run(line string) outcome {
	u.t.Helper()
	return gonebox(u.t, line, "HOME="+u.home, "GONEBOX_URL="+strings.TrimSuffix(u.URL, "/api/v1"))
}

// out runs a command that must succeed and returns its output.
func (u *shellUser) out(line string) string {
	u.t.Helper()
	got := u.run(line)
	if got.code != exitOK || got.err != "" {
		u.t.Fatalf("gonebox %s: %+v", line, got)
	}
	return got.out
}

func (u *shellUser) send(to, flags string) {
	u.t.Helper()
	u.out("send --server " + u.SMTP + " --to " + to + " " + flags)
}

func TestInboxPrintsAddressAndCodeAlone(t *testing.T) {
	u := newUser(t)
	first := strings.TrimSuffix(u.out("inbox new"), "\n")
	newest := strings.TrimSuffix(u.out("inbox new --name sofa-lamp --ttl 2h"), "\n")
	if newest != "sofa-lamp@gonebox.localhost" || strings.ContainsAny(first, " \n") {
		t.Fatalf("the addresses are %q and %q", first, newest)
	}
	u.send(first, "--code 111222")
	u.send(newest, "--code 333444")
	if got := u.out("inbox code"); got != "333444\n" {
		t.Errorf("the newest mailbox has %q", got)
	}
	if got := u.out("inbox code --from TEST@ " + first); got != "111222\n" {
		t.Errorf("the first mailbox has %q", got)
	}
	line := "inbox code --from other --timeout 10ms"
	u.run(line).oneErrorLine(t, line, exitFailure, "nothing that matches came to "+newest+" within 10ms")
}

// A mail that is there before the mailbox's command waits, and one that comes meanwhile.
func TestInboxCodeWaitsInNewMailbox(t *testing.T) {
	u := newUser(t)
	done := make(chan outcome)
	go func() { done <- u.run("inbox code --new --timeout 60s") }()
	var kept []inboxRow
	for deadline := time.Now().Add(time.Minute); len(kept) == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := json.Unmarshal([]byte(u.out("inbox list --mailboxes --json")), &kept); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) == 0 {
		t.Fatalf("no mailbox was created: %+v", <-done)
	}
	u.send(kept[0].Address, "--code 555666")
	if got := <-done; got.code != exitOK || got.out != kept[0].Address+"\n555666\n" || got.err != "" {
		t.Errorf("got %+v", got)
	}
}

func TestInboxReadsMessages(t *testing.T) {
	u := newUser(t)
	address := strings.TrimSpace(u.out("inbox new"))
	file := filepath.Join(t.TempDir(), "invoice.txt")
	write(t, file, "EUR 42\n")
	u.send(address, "--subject Invoice --html <a/href='https://app.example/invoice'>x</a> --attach "+file)
	u.send(address, "--code 123456")
	got := u.out("inbox wait --subject INVOICE --has attachment --has link")
	for _, want := range []string{"Subject:     Invoice\n", "Link:        https://app.example/invoice\n", "Attachment:  invoice.txt, 7 octets\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if list := u.out("inbox list"); !strings.HasPrefix(list, address) || !strings.Contains(list, "Invoice") || !strings.Contains(list, "123456") {
		t.Errorf("the list is\n%s", list)
	}
	if show := u.out("inbox show"); !strings.Contains(show, "Code:        123456\n") || !strings.Contains(show, "your verification code is 123456.") {
		t.Errorf("the newest message is\n%s", show)
	}
	var all []struct{ ID string }
	if err := json.Unmarshal([]byte(u.out("inbox list --json")), &all); err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	if show := u.out("inbox show " + all[1].ID); !strings.Contains(show, "Subject:     Invoice\n") {
		t.Errorf("the first message is\n%s", show)
	}
	eml := filepath.Join(t.TempDir(), "mail.eml")
	u.out("inbox save " + all[1].ID + " " + eml)
	if text, err := os.ReadFile(eml); err != nil || !strings.Contains(string(text), "Subject: Invoice\r\n") {
		t.Errorf("the raw message is %q, %v", text, err)
	}
}

func TestInboxKeepsTokensPrivately(t *testing.T) {
	u := newUser(t)
	if got := u.out("inbox new --json"); strings.Contains(got, "xm_") {
		t.Errorf("the token is in %s", got)
	}
	tokens := 0
	err := filepath.WalkDir(u.home, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == u.home || filepath.Base(name) == ".config" {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		if !e.IsDir() {
			tokens++
		}
		return err
	})
	if err != nil || tokens != 1 {
		t.Errorf("%d files, %v", tokens, err)
	}
	u.out("inbox end")
	u.run("inbox code").oneErrorLine(t, "inbox code", exitFailure, "there is no mailbox")
}

func TestInboxReportsErrors(t *testing.T) {
	home := "HOME=" + t.TempDir()
	for line, want := range map[string]string{
		"inbox new --url box.example":    `"box.example" is not the URL of a service`,
		"inbox code a@b.example --new":   "leave out ADDRESS",
		"inbox code --ttl 1h":            "need --new",
		"inbox wait --has attachments":   "--has must be one of",
		"inbox code --timeout 10":        "see gonebox inbox code --help",
		"inbox new --url http://[::1]:x": "is not the URL of a service",
	} {
		gonebox(t, line, home).oneErrorLine(t, line, exitUsage, want)
	}
	for line, want := range map[string]string{
		"inbox new --url http://127.0.0.1:9": "no Gonebox answers at http://127.0.0.1:9",
		"inbox list a@b.example":             "no token of a@b.example is kept",
	} {
		gonebox(t, line, home).oneErrorLine(t, line, exitFailure, want)
	}
	gonebox(t, "inbox new").oneErrorLine(t, "inbox new", exitFailure, "set HOME or XDG_CONFIG_HOME")
}
