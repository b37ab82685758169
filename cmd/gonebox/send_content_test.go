package main

import (
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSendAttachesFilesBesideHTML(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	page, invoice := filepath.Join(dir, "mail.html"), filepath.Join(dir, "invoice.pdf")
	write(t, page, "<p>Your invoice</p>")
	write(t, invoice, "%PDF-1.7 "+strings.Repeat("x", 200))
	got := gonebox(t, "send --to quiet@box.example --subject Invoice --html "+page+" --attach "+invoice+" --server "+s.addr)
	if got.code != exitOK || got.out != "Sent a mail to quiet@box.example via "+s.addr+".\n" {
		t.Fatalf("%+v", got)
	}
	content := <-s.got
	m, err := mail.ReadMessage(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(content, "code is") || m.Header.Get("Subject") != "Invoice" {
		t.Errorf("the mail is\n%s", content)
	}
	_, params, _ := mime.ParseMediaType(m.Header.Get("Content-Type"))
	parts := multipart.NewReader(m.Body, params["boundary"])
	body, err := parts.NextPart()
	if err != nil || !strings.HasPrefix(body.Header.Get("Content-Type"), "multipart/alternative") {
		t.Fatalf("%v in\n%s", err, content)
	}
	file, err := parts.NextPart()
	if err != nil || file.FileName() != "invoice.pdf" || file.Header.Get("Content-Type") != "application/pdf" {
		t.Fatalf("%v in\n%s", err, content)
	}
	if text, _ := io.ReadAll(file); !strings.HasPrefix(string(text), "JVBERi0xLjcg") {
		t.Errorf("the attachment is %q", text)
	}
}

func TestSendTakesWholeMail(t *testing.T) {
	s := newServer(t)
	eml := filepath.Join(t.TempDir(), "mail.eml")
	write(t, eml, "Subject: as it is\n\n.a dot\n")
	got := gonebox(t, "send --to quiet@box.example --eml "+eml+" --server "+s.addr)
	if content := <-s.got; got.code != exitOK || content != "Subject: as it is\n\n.a dot\n" {
		t.Errorf("%+v, %q", got, content)
	}
	for flags, want := range map[string]string{
		"--eml " + eml + " --code 1":   "leave out --subject, --code and --attach",
		"--eml " + eml + " --html <p>": "can't be used together",
		"--count 0":                    "from 1 to 100000 mails",
		"--count x":                    "expected a valid",
		"--attach " + filepath.Join(eml, "no") + " x": "unexpected argument x",
	} {
		line := "send --to quiet@box.example " + flags
		gonebox(t, line).oneErrorLine(t, line, exitUsage, want)
	}
	line := "send --to quiet@box.example --attach " + eml + "x"
	gonebox(t, line).oneErrorLine(t, line, exitFailure, "--attach: open ")
}

func TestSendCountsMails(t *testing.T) {
	s := newServer(t)
	got := gonebox(t, "send --to quiet@box.example --count 3 --server "+s.addr)
	if got.code != exitOK || strings.Count(got.out, "Sent the code") != 3 {
		t.Errorf("%+v", got)
	}
	codes := make(map[string]bool)
	for range 3 {
		m, err := mail.ReadMessage(strings.NewReader(<-s.got))
		if err != nil {
			t.Fatal(err)
		}
		codes[m.Header.Get("Subject")] = true
	}
	if len(codes) < 2 {
		t.Errorf("every mail has the same code: %v", codes)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
