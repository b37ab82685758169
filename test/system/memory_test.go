package system_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
)

const mib = 1 << 20

// TestLargeMailsStayWithinMemory lets one address send many large mails at once to a service with 512 MiB. The service
// stays alive, serves other addresses meanwhile, answers each mail 250 or 452, keeps those it answered 250, and
// releases the memory.
func TestLargeMailsStayWithinMemory(t *testing.T) {
	for _, mails := range []int{95, 200} {
		t.Run(fmt.Sprint(mails), func(t *testing.T) {
			if testing.Short() && mails > 100 {
				t.Skip("it writes gigabytes")
			}
			g := newCgroup(t, 512*mib)
			s := start(t, options{wrap: g.wrap(), set: map[string]string{"limits.smtp_connections": "1000"}})
			b := burst{service: s, box: s.newMailbox(), mail: heavyMail(10 * mib)}
			idle := g.rss(t)
			peak := g.watch(t)
			stop := b.others(t)
			begun := clock.System().Now()
			b.send(t, mails)
			t.Logf("%d mails in %s: %v", mails, clock.System().Now().Sub(begun).Round(time.Millisecond), b.replies)
			stop()
			begun = clock.System().Now()
			t.Logf("resident: %d MiB before, at most %d MiB", idle/mib, peak.Load()/mib)
			await(t, "memory given back", func() bool { return !s.proc.running() || g.rss(t) < idle+64*mib })
			t.Logf("%d MiB %s after", g.rss(t)/mib, clock.System().Now().Sub(begun).Round(time.Second))
			if !s.proc.running() {
				t.Fatal("the service was killed, want it to run on within its memory")
			}
			b.verify(t)
		})
	}
}

// burst is a number of equal mails sent at once.
type burst struct {
	*service
	box  mailbox
	mail []byte

	mu      sync.Mutex
	replies map[string]int // by code and enhanced code
}

// heavyMail is a mail of about size octets with one attachment that does not compress.
func heavyMail(size int) []byte {
	file := make([]byte, size*19/26)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(file)
	var m bytes.Buffer
	m.WriteString("From: Sender <sender@example.org>\r\nSubject: large\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain\r\n\r\nHere it is.\r\n--b\r\nContent-Type: application/octet-stream\r\n" +
		"Content-Disposition: attachment; filename=data.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n")
	m.WriteString(apptest.Base64Lines(file))
	m.WriteString("--b--\r\n")
	return m.Bytes()
}

// send sends the mails, each over a connection of its own.
func (b *burst) send(t *testing.T, mails int) {
	b.replies = make(map[string]int)
	wire := append(stuffed(b.mail), ".\r\n"...)
	var senders sync.WaitGroup
	for range mails {
		senders.Go(func() {
			reply := "connection lost"
			if text, err := b.one(t.Context(), wire); err == nil {
				reply = text[:min(len(text), 9)]
			} else {
				t.Log(err)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.replies[reply]++
		})
	}
	senders.Wait()
	for reply := range b.replies {
		if reply != "250 2.0.0" && reply != "452 4.3.1" {
			t.Errorf("a mail was answered %q, want 250 2.0.0 or 452 4.3.1", reply)
		}
	}
}

func (b *burst) one(ctx context.Context, wire []byte) (string, error) {
	c, err := dial(ctx, b.smtp)
	if err != nil {
		return "", err
	}
	defer c.conn.Close()
	c.within(3 * patience)
	reply, err := c.say("MAIL FROM:<sender@example.org> SIZE=%d", len(b.mail))
	for _, line := range []string{"RCPT TO:<" + b.box.Address + ">", "DATA"} {
		if err == nil && reply[0] == '2' {
			reply, err = c.say("%s", line)
		}
	}
	if err != nil || reply[0] != '3' {
		return reply, err
	}
	if _, err := c.conn.Write(wire); err != nil {
		return "", err
	}
	return c.reply()
}

// others uses the service from another address, with mail and calls, until stop, which returns the longest response
// time.
func (b *burst) others(t *testing.T) (stop func()) {
	box, ended := b.newMailbox(), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var worstMail, worstCall time.Duration
	rounds := 0
	go func() {
		defer close(ended)
		for ; ctx.Err() == nil; rounds++ {
			begun := clock.System().Now()
			if err := b.small(box); err != nil {
				t.Errorf("another's mail: %v", err)
				return
			}
			mailed := clock.System().Now()
			if err := b.list(box); err != nil {
				t.Errorf("another's call: %v", err)
				return
			}
			worstMail, worstCall = max(worstMail, mailed.Sub(begun)), max(worstCall, clock.System().Now().Sub(mailed))
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() {
		cancel()
		<-ended
		t.Logf("%d rounds of others: a mail took %s at most, a call %s", rounds, worstMail, worstCall)
		if slowest := patience / 2; worstMail > slowest || worstCall > slowest {
			t.Errorf("another's mail took %s and another's call %s, want at most %s", worstMail, worstCall, slowest)
		}
	}
}

// small sends a small mail from an address outside the burst.
func (b *burst) small(to mailbox) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: patience}
	conn, err := dialer.Dial("tcp", b.smtp)
	if err != nil {
		return err
	}
	defer conn.Close()
	c := newClient(conn)
	if _, err := c.reply(); err != nil {
		return err
	}
	if _, err := c.say("EHLO other.test"); err != nil {
		return err
	}
	reply, err := c.send("other@example.org", []string{to.Address}, sampleMail("small", strings.Repeat("Some text. ", 400)))
	if err == nil && !strings.HasPrefix(reply, "250 ") {
		err = fmt.Errorf("answered %s", reply)
	}
	return err
}

func (b *burst) list(box mailbox) error {
	r, err := http.NewRequest(http.MethodGet, b.url+"/mailboxes/me/messages?limit=5", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+box.Token)
	status := untilMemory(b.t, "another's call", func() int {
		var res *http.Response
		if res, err = (&http.Client{Timeout: patience}).Do(r); err != nil {
			return 0
		}
		defer res.Body.Close()
		return res.StatusCode
	})
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("answered %d", status)
	}
	return err
}

// verify checks that every mail answered 250 is stored unchanged.
func (b *burst) verify(t *testing.T) {
	all := b.messages(b.box)
	if taken := b.replies["250 2.0.0"]; len(all) != taken || taken == 0 {
		t.Errorf("%d messages are stored, want the %d that were answered 250, and some", len(all), taken)
	}
	file := make([]byte, 10*mib*19/26)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(file)
	sum := sha256.Sum256(file)
	for i, m := range all {
		if got := b.read(b.box, m.ID).Attachments; len(got) != 1 || got[0].SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("message %s has the attachments %v, want one with the SHA-256 %x", m.ID, got, sum)
		}
		if i%20 == 0 {
			if _, raw := b.raw(b.box, m.ID); !bytes.Equal(raw, b.mail) {
				t.Errorf("the raw message of %s has %d octets, want the %d that were sent", m.ID, len(raw), len(b.mail))
			}
		}
	}
}
