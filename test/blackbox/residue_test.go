package blackbox_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// traces identify a mail in a file: its text and subject are too short to be compressed, and its attachment is random.
type traces struct {
	subject, text string
	file          []byte
}

func newTraces() traces { return newTracesOf(3000) }

// newTracesOf returns traces with an attachment of n octets. A large one is not stored in the message's row
// (docs/decisions/0038).
func newTracesOf(octets int) traces {
	random := make([]byte, octets)
	rand.Read(random) // never fails, as crypto/rand documents
	return traces{subject: hex.EncodeToString(random[:16]), text: hex.EncodeToString(random[16:32]), file: random}
}

// mail is a mail that contains the traces.
func (tr traces) mail() []byte {
	file := base64.StdEncoding.EncodeToString(tr.file)
	var lines []string
	for ; len(file) > 76; file = file[76:] {
		lines = append(lines, file[:76])
	}
	lines = append(lines, file)
	return crlf("From: Sender <sender@example.org>", "Subject: "+tr.subject, "MIME-Version: 1.0",
		`Content-Type: multipart/mixed; boundary="b"`, "", "--b", "Content-Type: text/plain", "", tr.text,
		"--b", "Content-Type: application/octet-stream", "Content-Disposition: attachment; filename=f.bin",
		"Content-Transfer-Encoding: base64", "", strings.Join(lines, "\r\n"), "--b--")
}

// in lists the files below a folder that contain one of the traces, except those that skip names.
func (tr traces) in(t testing.TB, dir, skip string) (found []string) {
	t.Helper()
	pieces := map[string][]byte{
		"subject": []byte(tr.subject), "text": []byte(tr.text), "start of the attachment": tr.file[100:132],
		"end of the attachment": tr.file[len(tr.file)-132 : len(tr.file)-100], "encoded attachment": []byte(base64.StdEncoding.EncodeToString(tr.file[:54])),
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err): // it has just been removed
			return nil
		case err != nil:
			return err
		case e.IsDir() && e.Name() == skip:
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		for what, piece := range pieces {
			if bytes.Contains(content, piece) {
				found = append(found, filepath.Base(path)+" holds the "+what)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// pass moves the clock in small steps. Advance waits for the work caused by the step before, and the final Advance for
// that of the last step.
func (s *service) pass(d time.Duration) {
	s.t.Helper()
	const step = 5 * time.Second
	for ; d > 0; d -= step {
		s.Clock.Advance(step)
	}
	s.Clock.Advance(0)
}

// ends are the ways in which a mail is erased.
var ends = map[string]func(s *service, m mailbox, id string){
	"message deleted":   func(s *service, m mailbox, id string) { s.call(http.MethodDelete, "/messages/"+id, m.Token, 204, "") },
	"mailbox destroyed": func(s *service, m mailbox, _ string) { s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "") },
	"mailbox expired":   func(s *service, _ mailbox, _ string) { s.Clock.Advance(10 * time.Minute) },
}

// A minute after a mail was erased, no file contains any of it. The files of raw messages contain nothing of any mail, since what is in
// them is encrypted; those of the erased mail are removed within a minute of the end of its retention.
func TestErasedMailIsInNoFile(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"quiet", "busy"} {
		for name, end := range ends {
			t.Run(state+", "+name, func(t *testing.T) {
				s := start(t, settings{"plans.guest.mailbox.ttl.default": "10m", "plans.guest.mail.daily.max": "1000000"})
				if s.OnPostgres() {
					t.Skip("files of PostgreSQL are its own (docs/operating.md#what-remains-of-erased-mail)")
				}
				m := s.create("", nil)
				erased, kept := newTracesOf(300_000), newTraces()
				id := s.mail(m.box(), apptest.Mail{Raw: erased.mail()}).ID
				received := s.Clock.Now()
				other := s.create("", body{"ttl": 3600})
				s.mail(other.box(), apptest.Mail{Raw: kept.mail()})
				if len(erased.in(t, s.Dir, "")) < 4 {
					t.Fatalf("the files have %d of the marks before the end, want at least 4, since the test proves nothing otherwise", len(erased.in(t, s.Dir, "")))
				}
				if state == "busy" {
					defer s.work(other)()
				}
				end(s, m, id)
				s.pass(time.Minute)
				for _, left := range append(erased.in(t, s.Dir, ""), kept.in(t, filepath.Join(s.Dir, "raw"), "")...) {
					t.Errorf("a minute after the end: %s, want no mark in any file", left)
				}
				s.pass(received.Add(16 * time.Minute).Sub(s.Clock.Now()))
				for _, left := range append(erased.in(t, s.Dir, ""), kept.in(t, filepath.Join(s.Dir, "raw"), "")...) {
					t.Errorf("a minute after the retention: %s, want no mark in any file", left)
				}
				if len(kept.in(t, s.Dir, "raw")) < 4 {
					t.Errorf("the files have %d marks of the other mailbox, want at least 4", len(kept.in(t, s.Dir, "raw")))
				}
			})
		}
	}
}

// work sends mail to a mailbox, reads it and deletes some of it until the test calls the function that it returns.
func (s *service) work(m mailbox) (stop func()) {
	quit := make(chan struct{})
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
				}
				if err := s.TrySend(apptest.Mail{To: []string{m.Address}, Raw: newTraces().mail()}); err != nil {
					s.t.Errorf("mail on the busy service: %v", err)
					return
				}
				if a := s.Call(http.MethodGet, "/mailboxes/me/messages?limit=2", m.Token, nil); a.Status != http.StatusOK {
					s.t.Errorf("list on the busy service: %d %s, want Status %v", a.Status, a.Body, http.StatusOK)
					return
				}
			}
		})
	}
	return func() { close(quit); work.Wait() }
}

// A service that stops leaves nothing of what was erased before, even a moment before.
func TestStopLeavesNoErasedMail(t *testing.T) {
	t.Parallel()
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := start(t, settings{"plans.guest.mailbox.ttl.default": "10m", "plans.guest.raw.retention": "5m"})
			if s.OnPostgres() {
				t.Skip("files of PostgreSQL are its own (docs/operating.md#what-remains-of-erased-mail)")
			}
			m := s.create("", nil)
			erased, kept := newTraces(), newTraces()
			id := s.mail(m.box(), apptest.Mail{Raw: erased.mail()}).ID
			other := s.create("", body{"ttl": 3600})
			s.mail(other.box(), apptest.Mail{Raw: kept.mail()})
			s.Clock.Advance(6 * time.Minute)
			end(s, m, id)
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			for _, left := range erased.in(t, s.Dir, "") {
				t.Errorf("after the stop: %s, want no mark in any file", left)
			}
			if len(kept.in(t, s.Dir, "")) < 4 {
				t.Errorf("the files have %d marks of the other mailbox, want at least 4", len(kept.in(t, s.Dir, "")))
			}
		})
	}
}
