package system_test

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// takeover is two processes on one database that may read one mailbox elsewhere, each through a proxy of its own.
type takeover struct {
	t              *testing.T
	dovecot        *dovecot
	box            mailbox
	active, second *service
	proxies        map[*service]*proxy
	sent           int
}

func startTakeover(t *testing.T) *takeover {
	t.Helper()
	w := &takeover{t: t, dovecot: startDovecot(t), proxies: map[*service]*proxy{}}
	url := newServer(t).URL("gonebox")
	process := func() *service {
		p := startProxy(t, w.dovecot.addr)
		s := start(t, options{set: imapSettings(p.Addr().String(), "database.url", url, "secrets.key", strings.Repeat("5e", 32))})
		w.proxies[s] = p
		return s
	}
	w.active = process()
	w.box = w.active.newMailbox()
	w.deliver(1)
	w.await("the first process to read the mailbox")
	w.second = process()
	w.deliver(20)
	w.await("the first process to go on")
	if n := w.proxies[w.second].opened.Load(); n != 0 {
		t.Fatalf("the second process has opened %d connections to the mailbox while the first reads it, want none", n)
	}
	return w
}

// deliver puts messages into the mailbox elsewhere.
func (w *takeover) deliver(n int) {
	w.t.Helper()
	for range n {
		w.dovecot.deliver("Return-Path: <a@sender.example>\r\nDelivered-To: "+w.box.Address+"\r\n", sampleMail("elsewhere", fmt.Sprintf("tkn-%d.\r\n", w.sent)))
		w.sent++
	}
}

// await waits until the mailbox elsewhere is empty.
func (w *takeover) await(what string) {
	w.t.Helper()
	await(w.t, what, func() bool { return w.dovecot.left("") == 0 })
}

// check checks that each message is there once, as a process sees them.
func (w *takeover) check(s *service) {
	w.t.Helper()
	got := tokens(w.t, s.messages(w.box))
	for n := range w.sent {
		if ids := got[fmt.Sprintf("tkn-%d.", n)]; len(ids) != 1 {
			w.t.Errorf("message %d of %d is there %d times, want once", n, w.sent, len(ids))
		}
	}
}

// A second process goes on reading when the first is killed in the middle of its work.
func TestKilledReaderOfMailboxIsSucceeded(t *testing.T) {
	t.Parallel()
	w := startTakeover(t)
	held := w.proxies[w.active].hold("STORE")
	w.deliver(20)
	<-held // some messages are stored, and not deleted
	w.active.kill()
	w.proxies[w.active].release()
	began := time.Now()
	w.deliver(20)
	w.await("the second process to take over")
	t.Logf("the second process has emptied the mailbox %v after the first was killed", time.Since(began).Round(time.Second))
	w.check(w.second)
	w.active.restart()
	w.deliver(20)
	w.await("the second process to go on")
	if n := w.proxies[w.active].opened.Load(); n != 1 {
		t.Errorf("the process that was killed has opened %d connections, want no other one while the second reads", n)
	}
	w.check(w.second)
}

// changes matches the commands that change a mailbox.
var changes = regexp.MustCompile(`(?i) (UID )?(STORE|EXPUNGE|MOVE|COPY) [^\r]*`)

// A process that was suspended for longer than its lease stores and deletes nothing of what another one has taken over.
func TestSuspendedReaderOfMailboxComesBackAsSecond(t *testing.T) {
	t.Parallel()
	w := startTakeover(t)
	first := w.proxies[w.active]
	held := first.hold("BODY.PEEK")
	w.deliver(20)
	<-held // it waits for the content of a message, which it gets when it goes on
	w.active.proc.signal(syscall.SIGSTOP)
	defer w.active.proc.signal(syscall.SIGCONT)
	first.release()
	before := len(first.said())
	began := time.Now()
	w.await("the second process to take over")
	t.Logf("the second process has emptied the mailbox %v after the first was suspended", time.Since(began).Round(time.Second))
	w.check(w.second)
	closed := first.closed.Load()
	w.active.proc.signal(syscall.SIGCONT)
	await(t, "the first process to give its connection up", func() bool { return first.closed.Load() > closed })
	if said := first.said()[before:]; changes.MatchString(said) {
		t.Errorf("after it was suspended the first process sends %q, want nothing that changes the mailbox", changes.FindAllString(said, -1))
	}
	w.deliver(20)
	w.await("the second process to go on")
	await(t, "the first process to be ready", w.active.ready)
	w.check(w.active)
	if n := first.opened.Load(); n != 1 {
		t.Errorf("the process that was suspended has opened %d connections, want no other one while the second reads", n)
	}
}
