package smtpd_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
)

func TestEnvelopeSaysWhereTheMessageCameFrom(t *testing.T) {
	received := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	in := &fakeInbound{}
	cfg := smtpd.Config{Clock: clock.NewFake(received), TLS: &tls.Config{Certificates: []tls.Certificate{newCertificate(t, "mx.example.test")}}}
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, cfg, in)
		defer b.stop()
		c := b.dial("[::ffff:192.0.2.7]:99")
		c.hello()
		c.send("STARTTLS\r\n")
		c.expect("220")
		secure := tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true})
		if err := secure.Handshake(); err != nil {
			t.Fatal(err)
		}
		c.conn = secure
		c.r.Reset(secure)
		c.send("EHLO my host\r\n")
		c.expect("250 ")
		c.data()
		c.send("one\r\n.\r\n")
		c.expect("250")
		c.send("QUIT\r\n")
		c.expect("221")
	})
	want := inbound.Envelope{
		From:       "alice@sender.test",
		To:         []inbound.Recipient{{Address: "box@example.test", Local: "box", Domain: "example.test"}},
		Helo:       "my host",
		RemoteIP:   netip.MustParseAddr("192.0.2.7"),
		Protocol:   "ESMTPS",
		TLS:        "TLS 1.3 TLS_AES_128_GCM_SHA256",
		ReceivedAt: received,
	}
	if diff := cmp.Diff(want, in.deliveries()[0].env, cmpopts.EquateComparable(netip.Addr{}), cmpopts.IgnoreUnexported(inbound.Recipient{}, inbound.Envelope{}), cmpopts.IgnoreFields(inbound.Envelope{}, "Memory")); diff != "" {
		t.Errorf("in.deliveries()[0].env (-want +got):\n%s", diff)
	}
}

// A session over TLS from the first octet is one like after STARTTLS.
func TestServeTLSSpeaksTLSFromTheStart(t *testing.T) {
	in := &fakeInbound{}
	cfg := smtpd.Config{TLS: &tls.Config{Certificates: []tls.Certificate{newCertificate(t, "mx.example.test")}}, MaxConnections: 1}
	_, addr := serveTLS(t, cfg, in)
	dial := func() (*tls.Conn, error) { return tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true}) }
	conn, err := dial()
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	c := newClient(t, conn)
	c.hello()
	c.send("STARTTLS\r\n")
	c.expect("503 5.5.1")
	c.data()
	c.send("one\r\n.\r\n")
	c.expect("250")
	if second, err := dial(); err == nil {
		t.Errorf("a second connection to %s, want it refused", second.RemoteAddr())
	}
	c.send("QUIT\r\n")
	c.expect("221")
	c.expectEnd()
	_ = conn.Close()
	if got := in.deliveries(); len(got) != 1 || got[0].env.Protocol != "ESMTPS" || got[0].env.TLS == "" {
		t.Errorf("delivered %+v, want 1 message with the protocol ESMTPS", got)
	}
}

// Commands sent in the clear after STARTTLS are discarded, not read as if they had arrived over TLS.
func TestStartTLSDiscardsCleartextInput(t *testing.T) {
	in := &fakeInbound{}
	cfg := smtpd.Config{TLS: &tls.Config{Certificates: []tls.Certificate{newCertificate(t, "mx.example.test")}}}
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, cfg, in)
		defer b.stop()
		c := b.dial(home)
		c.hello()
		c.send("STARTTLS\r\nEHLO evil.test\r\nMAIL FROM:<evil@sender.test>\r\n")
		c.expect("220")
		secure := tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true})
		if err := secure.Handshake(); err != nil {
			t.Fatal(err)
		}
		c.conn = secure
		c.r.Reset(secure)
		c.send("RCPT TO:<box@example.test>\r\n")
		c.expect("503 5.5.1")
		c.send("EHLO client.test\r\n")
		c.expect("250 ")
		c.data()
		c.send("one\r\n.\r\nQUIT\r\n")
		c.expect("250", "221")
	})
	if got := in.deliveries(); len(got) != 1 || got[0].env.From != "alice@sender.test" || got[0].env.Helo != "client.test" {
		t.Errorf("delivered %+v, want one mail from alice@sender.test with the HELO name client.test", got)
	}
}

// A read from a net.Pipe returns the octets of one write, so the test sees each write of the server.
func TestPipelinedRepliesAreSentInOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{}, &fakeInbound{})
		defer b.stop()
		c := b.dial(home)
		c.hello()
		once := func(octets string, replies int) {
			t.Helper()
			c.send(octets)
			p := make([]byte, 65536)
			n, err := c.conn.Read(p)
			if got := bytes.Count(p[:n], []byte("\r\n")); err != nil || got != replies {
				t.Errorf("one write brought %d replies, %v, want %d: %q", got, err, replies, p[:n])
			}
		}
		once("MAIL FROM:<a@sender.test>\r\nRCPT TO:<b@example.test>\r\nRCPT TO:<c@example.test>\r\nDATA\r\n", 4)
		once("one\r\n.\r\nMAIL FROM:<a@sender.test>\r\nRCPT TO:<b@example.test>\r\nDATA\r\n", 4)
		once("two\r\n.\r\nQUIT\r\n", 2)
	})
}

func TestConnectionsOfOneAddressAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{MaxConnections: 2}, &fakeInbound{})
		defer b.stop()
		first := b.dial(home)
		first.hello()
		b.dial(home).hello()
		c := b.dial("[::ffff:192.0.2.1]:5")
		c.expect("421 4.7.0")
		c.expectEnd()
		b.dial(other).hello()

		b.dial("[2001:db8:0:1::1]:5").hello()
		b.dial("[2001:db8:0:1::2]:5").hello()
		b.dial("[2001:db8:0:1:ffff::3]:5").expect("421 4.7.0")
		b.dial("[2001:db8:0:2::1]:5").hello()

		first.send("QUIT\r\n")
		first.expect("221")
		first.expectEnd()
		synctest.Wait()
		b.dial(home).hello()
	})
}

func TestMessagesOfOneAddressAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := smtpd.Config{AllowMessage: func(a netip.Addr) (time.Duration, bool) {
			return 2500 * time.Millisecond, a != netip.MustParseAddr("192.0.2.1")
		}}
		b := serveOnPipes(t, cfg, &fakeInbound{})
		defer b.stop()
		c := b.dial(other)
		c.hello()
		c.envelope()
		c = b.dial(home)
		c.hello()
		c.send("MAIL FROM:<>\r\n")
		c.expect("421 4.7.0 Too many messages from your address, try again in 3 seconds")
		c.expectEnd()
	})
}

func TestMetricsCountConnectionsAndMessages(t *testing.T) {
	var open, connections, refused atomic.Int64
	outcomes := make(map[smtpd.Outcome]int64)
	metrics := smtpd.Metrics{
		Connections: func(delta int) {
			open.Add(int64(delta))
			connections.Add(1)
		},
		Refused: func(ratelimit.Name) { refused.Add(1) },
		Message: func(o smtpd.Outcome, octets int64, _ time.Duration) { outcomes[o] += octets },
	}
	synctest.Test(t, func(t *testing.T) {
		in := &fakeInbound{}
		b := serveOnPipes(t, smtpd.Config{Metrics: metrics, MaxSize: 100, MaxConnections: 1}, in)
		c := b.dial(home)
		c.hello()
		if open.Load() != 1 {
			t.Errorf("%d connections are open, want 1", open.Load())
		}
		b.dial(home).expect("421")
		c.data()
		c.send("12345678\r\n.\r\n")
		c.expect("250")
		c.data()
		c.send(strings.Repeat("x", 200) + "\r\n.\r\n")
		c.expect("552")
		in.fail = problem.New(problem.ServerUnavailable)
		c.envelope()
		c.send("BDAT 4 LAST\r\nab\r\n")
		c.expect("451")
		c.data()
		c.send("half")
		_ = c.conn.Close()
		b.stop()
	})
	want := map[smtpd.Outcome]int64{smtpd.Taken: 10, smtpd.Refused: 202, smtpd.Deferred: 4, smtpd.Aborted: 4}
	if diff := cmp.Diff(want, outcomes); diff != "" || open.Load() != 0 || connections.Load() != 2 || refused.Load() != 1 {
		t.Errorf("%d are open, %d changes, %d refused, outcomes (-want +got):\n%s", open.Load(), connections.Load(), refused.Load(), diff)
	}
}

// The log contains the client, but neither recipients nor content.
func TestLogKeepsSecrets(t *testing.T) {
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, &fakeInbound{})
		c := b.dial(home)
		c.hello()
		c.data()
		c.send("the code is 4711\r\n.\r\nQUIT\r\n")
		c.expect("250", "221")
		b.stop()
	})
	for _, want := range []string{`"ip":"192.0.2.1"`, `"helo":"client.test"`, `"octets":18`, `"reply":"250 2.0.0"`, `"trace":"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log is\n%s\nwant %s in it", log.String(), want)
		}
	}
	for _, secret := range []string{"4711", "box", "alice"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has the secret %q, want it left out: %s", secret, log.String())
		}
	}
}

func TestPanicEndsItsSessionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{}, &fakeInbound{before: func(context.Context) { panic("out of order") }})
		defer b.stop()
		bystander := b.dial(home)
		bystander.hello()
		c := b.dial(home)
		c.hello()
		c.data()
		c.send("one\r\n.\r\n")
		c.expect("421 4.3.0")
		c.expectEnd()
		bystander.send("NOOP\r\n")
		bystander.expect("250")
	})
}

// broken is a listener that fails a few times, as if there were no file descriptors left.
type broken struct {
	*pipes
	failures int
}

func (b *broken) Accept() (net.Conn, error) {
	if b.failures > 0 {
		b.failures--
		return nil, errors.New("too many open files")
	}
	return b.pipes.Accept()
}

func TestServeSurvivesFailingAccepts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		s := smtpd.New(smtpd.Config{Logger: slog.New(slog.DiscardHandler)}, &fakeInbound{})
		served := make(chan error, 1)
		go func() { served <- s.Serve(&broken{pipes: p, failures: 20}) }()
		server, conn := net.Pipe()
		p.conns <- server
		c := newClient(t, conn)
		c.hello()
		_ = p.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve: %v, want the error %v", err, net.ErrClosed)
		}
		_ = conn.Close()
		_ = s.Shutdown(t.Context())
	})
}

// The client's address in the header of the PROXY protocol is used for limits and in the envelope.
func TestProxyHeaderNamesTheClient(t *testing.T) {
	in := &fakeInbound{}
	_, addr := serve(t, smtpd.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, MaxConnections: 1}, in)
	dial := func(from string) *client {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		c := newClient(t, conn)
		c.send("PROXY TCP4 " + from + " 127.0.0.1 1234 25\r\n")
		return c
	}
	c := dial("192.0.2.1")
	c.hello()
	dial("192.0.2.1").expect("421 4.7.0")
	dial("192.0.2.2").hello()
	c.data()
	c.send("one\r\n.\r\n")
	c.expect("250")
	if ip := in.deliveries()[0].env.RemoteIP; ip != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("the envelope says %v, want %v", ip, netip.MustParseAddr("192.0.2.1"))
	}
}

func TestSessionsRunOnGoroutinesOfEarlierOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var goroutines []string
		in := &fakeInbound{before: func(context.Context) {
			stack := make([]byte, 64)
			name, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), " [")
			goroutines = append(goroutines, name)
		}}
		b := serveOnPipes(t, smtpd.Config{}, in)
		for range 3 {
			c := b.dial(home)
			c.hello()
			c.data()
			c.send("one\r\n.\r\nQUIT\r\n")
			c.expect("250 2.0.0", "221 2.0.0")
			c.expectEnd()
			synctest.Wait()
		}
		b.stop()
		for _, name := range goroutines {
			if name != goroutines[0] {
				t.Errorf("three sessions, one after another, ran on %q, want one goroutine", goroutines)
			}
		}
	})
}
