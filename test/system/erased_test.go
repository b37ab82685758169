package system_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
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
				s := start(t, options{set: map[string]string{"mailbox.erase_every": "1s", "plans.guest.raw.retention": "1s"}})
				rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
				mark, kept := noise(rng, 60)[:60], noise(rng, 60)[:60]
				box, ended, other := s.newMailbox(), s.newMailbox(), s.newMailbox()
				for _, to := range []mailbox{box, ended} {
					for range 2 {
						wantReply(t, "before", send(t, s.smtp, marked(mark, rng), to.Address), "250 ")
					}
				}
				wantReply(t, "before", send(t, s.smtp, marked(kept, rng), other.Address), "250 ")
				stop := func() {}
				if state == "busy" {
					stop = s.busy(other, s.newMailbox())
				}
				if end == "stopped" { // what of the raw messages is over is gone; the others have their time
					await(t, "the end of the raw messages", func() bool { return occurrencesIn(t, s.dir, "raw", mark) == 0 })
				}
				for path, token := range map[string]string{"/messages/" + s.messages(box)[0].ID: box.Token, "/messages/" + s.messages(box)[1].ID: box.Token, "/mailboxes/me": ended.Token} {
					if status, body := s.call(http.MethodDelete, path, token, nil); status != http.StatusNoContent {
						t.Fatalf("DELETE %s: %d %s", path, status, body)
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
					t.Errorf("the deleted text is in the files %d times", n)
				}
				if occurrences(t, s.dir, kept) == 0 {
					t.Error("another mailbox lost its mail")
				}
				integrity(t, s.dir)
			})
		}
	}
}

// marked is a mail with a text in its subject, its body and an attachment.
func marked(mark string, rng *rand.Rand) []byte {
	attached := base64.StdEncoding.EncodeToString([]byte(mark + noise(rng, 9_000)))
	var lines strings.Builder
	for ; len(attached) > 76; attached = attached[76:] {
		lines.WriteString(attached[:76] + "\r\n")
	}
	return fmt.Appendf(nil, "From: a@example.org\r\nSubject: %s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n%s\r\n"+
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
