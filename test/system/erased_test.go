package system_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestErasedMailIsGoneAfterStopAndKill deletes mail and a mailbox, stops the service at once, and searches every file
// of the data folder, raw messages included: after a stop nothing is left, and after a kill nothing once the service
// has run again for a while.
func TestErasedMailIsGoneAfterStopAndKill(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"stopped", "killed"} {
		for _, state := range []string{"quiet", "busy"} {
			t.Run(state+", "+end, func(t *testing.T) {
				t.Parallel()
				s := start(t, options{set: map[string]string{"mailbox.erase_every": "1s", "shutdown_grace": "2m"}}) // an eighth of it is for erasing
				rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
				mark, kept := randomText(rng, 60)[:60], randomText(rng, 60)[:60]
				box, ended, other := s.newMailbox(), s.newMailbox(), s.newMailbox()
				for _, to := range []mailbox{box, ended} {
					for range 2 {
						wantReply(t, "before", send(t, s.smtp, marked(mark, rng), to.Address), "250 ")
					}
				}
				wantReply(t, "before", send(t, s.smtp, marked(kept, rng), other.Address), "250 ")
				s.keepReads(box)
				stop := func() {}
				if state == "busy" {
					stop = s.busy(other, s.newMailbox())
				}
				for path, token := range map[string]string{"/messages/" + s.messages(box)[0].ID: box.Token, "/messages/" + s.messages(box)[1].ID: box.Token, "/mailboxes/me": ended.Token} {
					if status, body := s.call(http.MethodDelete, path, token, nil); status != http.StatusNoContent {
						t.Fatalf("DELETE %s: %d %s, want %v", path, status, body, http.StatusNoContent)
					}
				}
				if end == "stopped" {
					s.stop()
					stop()
				} else {
					s.kill()
					stop()
					s.restart()
					await(t, "what was deleted is in no file", func() bool { return occurrences(t, s.dir, mark) == 0 })
					s.stop()
				}
				if n := occurrences(t, s.dir, mark); n > 0 {
					t.Errorf("the deleted text is in the files %d times, want 0", n)
				}
				if occurrences(t, s.dir, kept) == 0 {
					t.Error("the files have nothing of the other mailbox, want its mail kept")
				}
				integrity(t, s.dir)
			})
		}
	}
}

// keepReads reads the two messages of a mailbox until what was made of them is kept.
func (s *service) keepReads(box mailbox) {
	d := openDatabase(s.t, "sqlite", "file:"+filepath.Join(s.dir, "gonebox.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	defer d.Close()
	await(s.t, "what was made of the messages is kept", func() bool {
		for _, m := range s.messages(box) {
			if status, text := s.call(http.MethodPatch, "/messages/"+m.ID, box.Token, map[string]any{"seen": false}); status != http.StatusOK {
				s.t.Errorf("PATCH /messages/%s: %d %s, want 200", m.ID, status, text)
			}
			if status, text := s.call(http.MethodGet, "/messages/"+m.ID, box.Token, nil); status != http.StatusOK {
				s.t.Errorf("GET /messages/%s: %d %s, want 200", m.ID, status, text)
			}
		}
		n := 0
		must(s.t, d.QueryRowContext(s.t.Context(), "SELECT count(*) FROM message WHERE length(shown) > 0").Scan(&n))
		return n == 2
	})
}

// marked is a mail with a text in its subject, its body and an attachment.
func marked(mark string, rng *rand.Rand) []byte {
	attached := base64.StdEncoding.EncodeToString([]byte(mark + randomText(rng, 9_000)))
	var lines strings.Builder
	for ; len(attached) > 76; attached = attached[76:] {
		lines.WriteString(attached[:76] + "\r\n")
	}
	return fmt.Appendf(nil, "From: a@example.org\r\nTo: b@example.org\r\nSubject: %s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n%s\r\n"+
		"--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=f\r\nContent-Transfer-Encoding: base64\r\n\r\n%s%s\r\n--b--\r\n",
		mark, mark, lines.String(), attached)
}

// busy has senders send to mailboxes until the service or the returned function ends them.
func (s *service) busy(to ...mailbox) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	l := &load{seed: 1, addr: s.smtp, boxes: to}
	var sending sync.WaitGroup
	for n := range 3 {
		sending.Go(func() { l.run(ctx, n) })
	}
	return func() { cancel(); sending.Wait() }
}

// TestDeletedAccountIsGoneAfterKill kills the service at the moment in which an account was deleted, and searches every file once it runs
// again, long before the end of the retention of raw messages: for the mail, for a mail deleted before, and for the keys of all of them. A
// mail that another mailbox shares stays there.
func TestDeletedAccountIsGoneAfterKill(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"mailbox.erase_every": "1s", "account.password.memory": "64KiB", "shutdown_grace": "2m"}})
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	mark, shared := randomText(rng, 60)[:60], randomText(rng, 60)[:60]
	ada := s.register("ada@example.org")
	status, text := s.call(http.MethodPost, "/mailboxes", ada, map[string]any{"localPart": "leaving"})
	if status != http.StatusCreated {
		t.Fatalf("POST /mailboxes: %d %s, want 201", status, text)
	}
	box, other := decode[mailbox](t, text), s.newMailbox()
	wantReply(t, "a mail", send(t, s.smtp, marked(mark, rng), box.Address), "250 ")
	large := append(marked(mark, rng), []byte(strings.Repeat(mark+"\r\n", 40_000))...)
	wantReply(t, "a large mail", send(t, s.smtp, large, box.Address), "250 ")
	wantReply(t, "a mail to delete", send(t, s.smtp, marked(mark, rng), box.Address), "250 ")
	keys := rawKeys(t, s.dir)
	if status, body := s.call(http.MethodDelete, "/messages/"+s.messages(box)[0].ID, box.Token, nil); status != http.StatusNoContent {
		t.Fatalf("DELETE of a message: %d %s, want 204", status, body)
	}
	wantReply(t, "a shared mail", send(t, s.smtp, marked(shared, rng), box.Address, other.Address), "250 ")
	if len(keys) != 3 || occurrences(t, s.dir, keys[0]) == 0 {
		t.Fatalf("the keys of raw messages are %q, want 3 that are in the files", keys)
	}

	if status, body := s.call(http.MethodDelete, "/me", ada, map[string]string{"password": userPassword}); status != http.StatusNoContent {
		t.Fatalf("DELETE /me: %d %s, want 204", status, body)
	}
	s.kill()
	s.restart()
	for what, text := range map[string]string{"the mail": mark, "the first key": keys[0], "the second key": keys[1], "the key of a deleted mail": keys[2]} {
		awaitWithin(t, 2*patience, what+" is in no file", func() bool { return occurrences(t, s.dir, text) == 0 })
	}
	status, body := s.call(http.MethodGet, "/messages/"+s.messages(other)[0].ID+"/raw", other.Token, nil)
	if status != http.StatusOK || !bytes.Contains(body, []byte(shared)) {
		t.Errorf("GET of the raw message that another mailbox shares: %d, with its text %t, want 200 and true", status, bytes.Contains(body, []byte(shared)))
	}
	s.stop()
	integrity(t, s.dir)
}

// rawKeys returns the keys under which the raw messages of the stored messages are encrypted.
func rawKeys(t *testing.T, dir string) (keys []string) {
	t.Helper()
	d := openDatabase(t, "sqlite", "file:"+filepath.Join(dir, "gonebox.db"))
	defer d.Close()
	rows, err := d.QueryContext(t.Context(), "SELECT raw_ref FROM message")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var ref string
		if err := rows.Scan(&ref); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, ref[strings.LastIndexByte(ref, '.')+1:])
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("read rows: got the error %v, want none", err)
	}
	return keys
}
