package smtpd_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/smtpd"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// limitedMemory is a server on pipes with a budget of 64 MiB: 32 for mail of any size, of which one request can have 24 and small requests of up
// to 256 KiB have 8; 8 as the reserve for small ones; and 24 to finish. Mail waits for a minute.
type limitedMemory struct {
	*pipeServer
	memory *budget.Budget
	in     *fakeInbound
}

func serveLimitedMemory(t *testing.T) limitedMemory {
	s := limitedMemory{memory: budget.New(64 * mib), in: &fakeInbound{}}
	s.pipeServer = serveOnPipes(t, smtpd.Config{Memory: s.memory}, s.in)
	return s
}

// hold acquires memory, as another client would, until the returned function is called.
func (s limitedMemory) hold(n int64) (release func()) {
	s.t.Helper()
	l := s.memory.TryAcquire(budget.Request, "another", n)
	if l == nil {
		s.t.Fatalf("TryAcquire(%d) was refused, want the memory held", n)
	}
	return l.Release
}

// end shuts the server down and checks that all memory was released.
func (s limitedMemory) end(mails int) {
	s.t.Helper()
	s.stop()
	if n := s.memory.Used(budget.Mail); n != 0 {
		s.t.Errorf("%d octets are in use after all, want 0", n)
	}
	if got := len(s.in.deliveries()); got != mails {
		s.t.Errorf("%d mails were delivered, want %d", got, mails)
	}
}

func (c *client) declare(size int) {
	c.t.Helper()
	c.send(fmt.Sprintf("MAIL FROM:<alice@sender.test> SIZE=%d\r\nRCPT TO:<box@example.test>\r\n", size))
	c.expect("250 2.1.0", "250 2.1.5")
}

// text returns a message of size octets.
func text(size int) string {
	const line = 64
	return strings.Repeat(strings.Repeat("x", line-2)+"\r\n", size/line)
}

func TestALargeMailWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveLimitedMemory(t)
		release := s.hold(24 * mib)
		c, small := s.dial(home), s.dial(home)
		c.hello()
		c.declare(20 * mib)
		c.send("DATA\r\n")
		synctest.Wait()
		begun := time.Now()

		small.hello()
		small.data()
		small.send(text(4*kib) + ".\r\n")
		small.expect("250")
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("a small mail waited %s, want 0", waited)
		}

		time.Sleep(59 * time.Second)
		release()
		c.expect("354")
		c.send(text(20*mib) + ".\r\n")
		c.expect("250")
		small.send("QUIT\r\n")
		small.expect("221")
		c.send("QUIT\r\n")
		c.expect("221")
		s.end(2)
	})
}

func TestMailIsDeferredWhenMemoryDoesNotBecomeFree(t *testing.T) {
	const size = 2 * mib
	for name, mail := range map[string]func(c *client){
		"declared size": func(c *client) {
			c.declare(20 * mib)
			c.send("DATA\r\n")
			c.expect("452 4.3.1")
		},
		"size not declared": func(c *client) {
			c.data()
			c.send(text(size) + ".\r\n")
			c.expect("452 4.3.1")
		},
		"size declared too small": func(c *client) {
			c.declare(100)
			c.send("DATA\r\n")
			c.expect("354")
			c.send(text(size) + ".\r\n")
			c.expect("452 4.3.1")
		},
		"a large chunk": func(c *client) {
			c.envelope()
			c.send(fmt.Sprintf("BDAT %d\r\n%s", size, text(size)))
			c.expect("452 4.3.1")
			c.send("BDAT 0 LAST\r\n")
			c.expect("503 5.5.1")
		},
		"chunk after chunk": func(c *client) {
			c.envelope()
			c.send("BDAT 1024\r\n" + text(1024))
			c.expect("250")
			c.send(fmt.Sprintf("BDAT %d LAST\r\n%s", size, text(size)))
			c.expect("452 4.3.1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveLimitedMemory(t)
				release := s.hold(24 * mib)
				more := s.memory.TryAcquire(budget.Request, "a third", 8*mib-300*kib)
				c := s.dial(home)
				c.hello()
				begun := time.Now()
				mail(c)
				if waited := time.Since(begun); waited != time.Minute {
					t.Errorf("it was deferred after %s, want %v", waited, time.Minute)
				}
				release()
				more.Release()
				c.data() // the session goes on
				c.send(text(size) + ".\r\nQUIT\r\n")
				c.expect("250", "221")
				s.end(1)
			})
		})
	}
}

// Mails of unknown size are received one after the other, since each may become as large as the largest mail.
func TestLargeMailsOfUnknownSizeDoNotFailEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, all := serveLimitedMemory(t), make(chan struct{})
		var senders sync.WaitGroup
		for range 5 {
			senders.Go(func() {
				c := s.dial(home)
				c.hello()
				c.data()
				c.send(text(4 * mib))
				<-all // have begun
				c.send(text(6*mib) + ".\r\n")
				c.expect("250")
				c.send("QUIT\r\n")
				c.expect("221")
			})
		}
		synctest.Wait()
		close(all)
		senders.Wait()
		s.end(5)
	})
}

// The mail has been received, but there is no memory to parse and store it.
func TestDeliveryWaitsForMemory(t *testing.T) {
	for _, free := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := serveLimitedMemory(t)
			c := s.dial(home)
			c.hello()
			c.declare(20 * mib)
			c.send("DATA\r\n")
			c.expect("354")
			l, err := s.memory.Acquire(t.Context(), budget.Request, "another", 0)
			if err != nil || l.Finish(t.Context(), 24*mib) != nil || l.Grow(7*mib) != nil {
				t.Fatalf("taking the memory that the mail needs to finish failed: %v, want all of it taken", err)
			}
			begun := time.Now()
			c.send(text(20*mib) + ".\r\n")
			if free {
				time.Sleep(30 * time.Second)
				l.Release()
				c.expect("250")
			} else {
				c.expect("452 4.3.1")
				l.Release()
			}
			if waited, want := time.Since(begun), map[bool]time.Duration{true: 30 * time.Second, false: time.Minute}[free]; waited != want {
				t.Errorf("answered after %s, want %s", waited, want)
			}
			c.send("QUIT\r\n")
			c.expect("221")
			s.end(map[bool]int{true: 1}[free])
		})
	}
}

func TestMemoryOfDisconnectedClientsIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveLimitedMemory(t)
		for _, octets := range []string{"DATA\r\n" + text(mib), "BDAT 100000\r\n" + text(70_000), "BDAT 64\r\n" + text(64)} {
			c := s.dial(home)
			c.hello()
			c.envelope()
			go func() {
				_, _ = c.r.WriteTo(io.Discard)
			}()
			c.send(octets)
			synctest.Wait()
			if s.memory.Used(budget.Mail) == 0 {
				t.Error("Used(Mail) = 0 while the mail is received, want some memory used")
			}
			_ = c.conn.Close()
		}
		s.end(0)
	})
}

// A message that is too large or malformed gets the reply that says so, even if there was no memory for it.
func TestATooLargeMailIsRefusedAlsoWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveLimitedMemory(t)
		release := s.hold(24 * mib)
		defer release()
		more := s.memory.TryAcquire(budget.Request, "a third", 8*mib-300*kib)
		defer more.Release()
		c := s.dial(home)
		c.hello()
		c.data()
		c.send(text(26*mib) + ".\r\n")
		c.expect("552 5.3.4")
		c.data()
		c.send(text(mib) + "\n\r\n.\r\nQUIT\r\n")
		c.expect("550 5.6.0", "221")
		s.end(0)
	})
}
