package system_test

import (
	"net"
	"strings"
	"syscall"
	"testing"
)

// TestShutdownDrains stops a busy service: work in progress is finished, waits are answered, and nothing new is
// accepted.
func TestShutdownDrains(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"shutdown_grace": "50s"}})
	box, empty := s.newMailbox(), s.newMailbox()
	m := sampleMail("half", "sent in two halves")
	c := halfSent(t, s, box, m)
	idle := mustDial(t, s.smtp)
	polled := s.longPoll(empty)

	s.proc.signal(syscall.SIGTERM)
	reply, err := idle.reply()
	if err != nil || !strings.HasPrefix(reply, "421 4.3.2 ") || !idle.closed() {
		t.Errorf("an idle session gets %q, %v, want 421 4.3.2 and its end", reply, err)
	}
	if answer := <-polled; !strings.HasPrefix(answer, `{"data":[],"nextCursor":null`) {
		t.Errorf("a long-poll is answered %q after SIGTERM, want an empty list", answer)
	}
	s.awaitDeaf()
	if !s.proc.running() {
		t.Fatal("the service ended with a mail half sent, want it to wait")
	}

	if _, err := c.conn.Write(append(m[len(m)/2:], ".\r\n"...)); err != nil {
		t.Fatal(err)
	}
	if reply, err = c.reply(); err != nil {
		t.Fatal(err)
	}
	wantReply(t, "the message under way", reply, "250 ")
	if reply, err = c.reply(); err == nil {
		wantReply(t, "after it", reply, "421 4.3.2 ")
	}
	if code := s.proc.wait(t); code != 0 {
		t.Errorf("ended with status %d, want 0", code)
	}
	s.restart()
	s.wantSubjects(box, "half")
}

// A terminal that closes sends SIGHUP, maybe twice. It drains the service as SIGTERM does, except below nohup.
func TestHangUpDrains(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	polled := s.longPoll(s.newMailbox())
	s.proc.signal(syscall.SIGHUP)
	s.proc.signal(syscall.SIGHUP)
	if answer := <-polled; !strings.HasPrefix(answer, `{"data":[],"nextCursor":null`) {
		t.Errorf("a long-poll is answered %q after SIGHUP, want an empty list", answer)
	}
	if code := s.proc.wait(t); code != 0 {
		t.Errorf("after SIGHUP the service ended with status %d, want 0", code)
	}
	s.o.wrap = []string{"nohup"}
	s.restart()
	box := s.newMailbox()
	s.proc.signal(syscall.SIGHUP)
	wantReply(t, "a mail after SIGHUP below nohup", send(t, s.smtp, sampleMail("stays", "stays"), box.Address), "250 ")
	s.stop()
}

// TestShutdownGraceBoundsDrain has a client stall: it is disconnected and the service ends.
func TestShutdownGraceBoundsDrain(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"shutdown_grace": "1s"}})
	box := s.newMailbox()
	c := halfSent(t, s, box, sampleMail("stalled", "never finished"))
	s.proc.signal(syscall.SIGTERM)
	// It may be cut off two seconds after the grace, when a slow disk still syncs; what counts is that it ends.
	if code, log := s.proc.wait(t), s.proc.err.String(); code != 0 && !strings.Contains(log, "was cut off") {
		t.Errorf("the service ended with status %d, want 0, or another with the reason that work was cut off: %s", code, tail(log, 500))
	}
	if reply, err := c.reply(); err == nil {
		wantReply(t, "a client that stalls", reply, "4")
	}
	s.restart()
	s.wantSubjects(box)
}

// TestSecondSignal ends the service at once, whatever is in progress.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"shutdown_grace": "1h"}})
	box := s.newMailbox()
	wantReply(t, "before", send(t, s.smtp, sampleMail("kept", "kept"), box.Address), "250 ")
	halfSent(t, s, box, sampleMail("stalled", "never finished"))
	s.proc.signal(syscall.SIGTERM)
	s.awaitDeaf()
	await(t, "the end after a second signal", func() bool {
		s.proc.signal(syscall.SIGTERM) // the first of these may come before the handler is gone
		return !s.proc.running()
	})
	if code := s.proc.wait(t); code == 0 {
		t.Error("the exit status after a second signal is 0, want another")
	}
	integrity(t, s.dir)
	s.restart()
	s.wantSubjects(box, "kept")
}

// halfSent opens a session that has sent half of a mail's content.
func halfSent(t *testing.T, s *service, box mailbox, m []byte) *client {
	t.Helper()
	c := mustDial(t, s.smtp)
	reply, err := c.begin("sender@example.org", box.Address)
	if err == nil {
		wantReply(t, "DATA", reply, "354 ")
		_, err = c.conn.Write(m[:len(m)/2])
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// awaitDeaf waits until the service accepts no new connections on either port.
func (s *service) awaitDeaf() {
	s.t.Helper()
	for _, addr := range []string{s.smtp, s.http} {
		await(s.t, "refusal of connections", func() bool {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				conn.Close()
			}
			return err != nil
		})
	}
}
