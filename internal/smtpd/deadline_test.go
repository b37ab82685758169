package smtpd_test

import (
	"crypto/tls"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// within checks that a wait was as long as wanted. A deadline may be early by a sixteenth.
func within(t *testing.T, took, want time.Duration) {
	t.Helper()
	if took > want || took < want-want/16-time.Second {
		t.Errorf("it took %v, want %v", took, want)
	}
}

func TestSilentClientGets421AndIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{}, &fakeInbound{})
		defer b.stop()
		c := b.dial(home)
		c.hello()
		c.envelope()
		time.Sleep(4 * time.Minute)
		c.send("NOOP\r\nNO") // half a command does not extend the wait
		c.expect("250")
		start := time.Now()
		c.expect("421 4.4.2")
		c.expectEnd()
		within(t, time.Since(start), 5*time.Minute)
	})
}

func TestBusySessionEndsAtItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{}, &fakeInbound{})
		defer b.stop()
		start := time.Now()
		c := b.dial(home)
		c.hello()
		for time.Since(start) < 58*time.Minute {
			c.send("NOOP\r\n")
			c.expect("250")
			time.Sleep(time.Minute)
		}
		c.expect("421 4.4.2")
		c.expectEnd()
		within(t, time.Since(start), time.Hour)
	})
}

// The deadline is set for each read, so a slow sender that keeps sending can finish.
func TestSlowContentIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &fakeInbound{}
		b := serveOnPipes(t, smtpd.Config{}, in)
		defer b.stop()
		c := b.dial(home)
		c.hello()
		c.data()
		for range 15 {
			time.Sleep(2 * time.Minute)
			c.send("line\r\n")
		}
		c.send(".\r\n")
		c.expect("250 2.0.0")
		c.envelope()
		c.send("BDAT 60 LAST\r\n")
		for range 10 {
			time.Sleep(2 * time.Minute)
			c.send("line\r\n")
		}
		c.expect("250 2.0.0")
		c.send("QUIT\r\n")
		c.expect("221")
		if n := len(in.deliveries()); n != 2 {
			t.Errorf("%d messages were delivered, want 2", n)
		}
	})
}

// After content that was cut off, nothing that arrives is treated as a command.
func TestStalledContentEndsTheSession(t *testing.T) {
	for name, begin := range map[string]string{"DATA": "DATA\r\n", "BDAT": "BDAT 1000 LAST\r\n", "refused BDAT": "RSET\r\nBDAT 1000\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := &fakeInbound{}
				b := serveOnPipes(t, smtpd.Config{}, in)
				defer b.stop()
				c := b.dial(home)
				c.hello()
				c.envelope()
				c.send(begin)
				switch name {
				case "DATA":
					c.expect("354")
				case "refused BDAT":
					c.expect("250")
				}
				c.send("QUIT\r\n")
				start := time.Now()
				c.expect("421 4.4.2")
				within(t, time.Since(start), 3*time.Minute)
				if _, err := io.WriteString(c.conn, "\r\n.\r\nNOOP\r\n"); err == nil {
					t.Error("the server read on after the content stalled, want the connection closed")
				}
				c.expectEnd()
				if n := len(in.deliveries()); n != 0 {
					t.Errorf("%d messages were delivered, want 0", n)
				}
			})
		})
	}
}

// A client that sends single octets forever is disconnected at the end of the session's time.
func TestDrippedContentEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{Timeouts: smtpd.Timeouts{Session: 20 * time.Minute}}, &fakeInbound{})
		defer b.stop()
		start := time.Now()
		c := b.dial(home)
		c.hello()
		c.data()
		var dripping sync.WaitGroup
		dripping.Go(func() {
			for {
				if _, err := io.WriteString(c.conn, "x"); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		c.expect("421 4.4.2")
		c.expectEnd()
		within(t, time.Since(start), 20*time.Minute)
		dripping.Wait()
	})
}

func TestClientThatDoesNotReadIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{}, &fakeInbound{})
		defer b.stop()
		start := time.Now()
		c := b.dial(home)
		if _, err := io.WriteString(c.conn, "NOOP\r\n"); err == nil {
			t.Error("the server read a command before the client had read the greeting, want the connection closed")
		}
		within(t, time.Since(start), 2*time.Minute)
	})
}

func TestHandshakeHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{TLS: &tls.Config{}}, &fakeInbound{})
		defer b.stop()
		c := b.dial(home)
		c.hello()
		c.send("STARTTLS\r\n")
		c.expect("220")
		start := time.Now()
		c.expectEnd()
		within(t, time.Since(start), 5*time.Minute)
	})
}
