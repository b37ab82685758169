package system_test

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"regexp"
	"sync"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "of the crash test; 0: another one each time")

const (
	senders = 12
	crashes = 10
)

// TestMailSurvivesCrashes repeatedly kills the service under load, then checks every mail: one that was answered 250 is
// stored once for each of its recipients, any other once or not at all.
func TestMailSurvivesCrashes(t *testing.T) {
	t.Parallel()
	l := &load{seed: *seed}
	if l.seed == 0 {
		l.seed = uint64(rand.Uint32())
	}
	t.Logf("go test ./test/system -run TestMailSurvivesCrashes -seed %d", l.seed)
	s := start(t, options{})
	for range 4 {
		l.boxes = append(l.boxes, s.newMailbox())
	}
	l.addr = s.smtp
	l.torment(t, s)

	integrity(t, s.dir)
	s.restart()
	l.verify(t, s)
	s.stop()
	integrity(t, s.dir)
}

// torment kills the service while the senders send, and leaves it stopped.
func (l *load) torment(t *testing.T, s *service) {
	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	defer sending.Wait()
	defer cancel()
	for n := range senders {
		sending.Go(func() { l.run(ctx, n) })
	}
	rng := rand.New(rand.NewPCG(l.seed, senders))
	for crash := 1; ; crash++ {
		enough := l.acknowledged() + 20 + rng.IntN(180)
		await(t, "mail being taken", func() bool { return l.acknowledged() >= enough })
		<-time.After(time.Duration(rng.IntN(15_000)) * time.Microsecond)
		s.kill()
		if crash == crashes {
			return
		}
		s.restart()
		if s.smtp != l.addr {
			t.Fatalf("the service listens at %s after the crash, want %s again: another program took the port", s.smtp, l.addr)
		}
	}
}

// verify compares the mailboxes with what the senders were answered.
func (l *load) verify(t *testing.T, s *service) {
	found := make([]map[string][]string, len(l.boxes)) // by mailbox and token, the messages
	for i, box := range l.boxes {
		found[i] = tokens(t, s.messages(box))
		m := s.refresh(box)
		total := 0
		for _, ids := range found[i] {
			total += len(ids)
		}
		if m.MessageCount != total || m.UnreadCount != total {
			t.Errorf("%s counts %d messages and %d unread, want the %d that are listed", box.Address, m.MessageCount, m.UnreadCount, total)
		}
	}
	l.checkEach(t, found)
	l.checkRaw(t, s, found)
	for _, reply := range l.strays {
		t.Errorf("a sender got the reply %q, want one that a crash explains", reply)
	}
}

// checkEach counts each mail in each mailbox.
func (l *load) checkEach(t *testing.T, found []map[string][]string) {
	there, unanswered := 0, 0
	for _, m := range l.sent {
		copies := 0
		for i := range l.boxes {
			copies += len(found[i][m.token])
		}
		for _, box := range m.to {
			if n := len(found[box][m.token]); m.acked && n != 1 || n > 1 {
				t.Errorf("%s is stored %d times, want once if it was acknowledged (%t), and else at most once", m.token, n, m.acked)
			}
		}
		if copies != 0 && copies != len(m.to) {
			t.Errorf("%s is in %d mailboxes, want none or the %d that it went to", m.token, copies, len(m.to))
		}
		there += copies
		if !m.acked {
			unanswered++
		}
	}
	for i := range found {
		for _, ids := range found[i] {
			there -= len(ids)
		}
	}
	if there != 0 {
		t.Errorf("%d messages were never sent, want 0", -there)
	}
	t.Logf("%d mails answered 250, %d without an answer", l.acked, unanswered)
}

// checkRaw compares a sample of the acknowledged raw messages, octet by octet.
func (l *load) checkRaw(t *testing.T, s *service, found []map[string][]string) {
	rng := rand.New(rand.NewPCG(l.seed, senders+1))
	for range 200 {
		m := l.sent[rng.IntN(len(l.sent))]
		box := m.to[rng.IntN(len(m.to))]
		if !m.acked || len(found[box][m.token]) != 1 {
			continue
		}
		if _, raw := s.raw(l.boxes[box], found[box][m.token][0]); !bytes.Equal(raw, m.data) {
			t.Errorf("%s was stored as\n%.500q\nwant it as it was sent:\n%.500q", m.token, raw, m.data)
		}
	}
}

// tokens maps the tokens at the beginning of the texts to messages.
func tokens(t *testing.T, list []message) map[string][]string {
	token := regexp.MustCompile(`^tkn-[0-9-]+\.`)
	found := make(map[string][]string)
	for _, m := range list {
		name := token.FindString(m.Preview)
		if name == "" {
			t.Errorf("the message %s has the preview %q, want a token in it", m.ID, m.Preview)
		}
		found[name] = append(found[name], m.ID)
	}
	return found
}
