package system_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
)

// attacker makes requests from an address of its own.
type attacker struct {
	*service
	client *http.Client
}

func newAttacker(t *testing.T, s *service, from string) attacker {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return attacker{s, &http.Client{Transport: transport, Timeout: patience}}
}

// do makes n equal requests at once and counts the answers by status, and their octets.
func (a attacker) do(t *testing.T, n int, method, path, token string, body []byte) (statuses map[int]int, octets int64) {
	var mu sync.Mutex
	var all sync.WaitGroup
	statuses = make(map[int]int)
	for range n {
		all.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), method, a.url+path, bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+token)
			status, read := 0, int64(0)
			if res, err := a.client.Do(r); err == nil {
				status = res.StatusCode
				read, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
			mu.Lock()
			statuses[status]++
			octets += read
			mu.Unlock()
		})
	}
	all.Wait()
	return statuses, octets
}

// unread opens n connections that make a request and read nothing.
func (a attacker) unread(t *testing.T, n int, path, token string) {
	u, err := url.Parse(a.url)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.3")}}).DialContext(t.Context(), "tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(conn, "GET %s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", u.Path, path, u.Host, token)
	}
}

// others uses the service from another address until stop, which returns the longest response time.
func others(t *testing.T, s *service) (stop func() time.Duration) {
	box, a := s.newMailbox(), newAttacker(t, s, "127.0.0.4")
	send(t, s.smtp, sampleMail("hello", "hello"), box.Address)
	id := s.only(box).ID
	ctx, cancel := context.WithCancel(t.Context())
	worst := make(chan time.Duration, 1)
	go func() {
		var longest time.Duration
		for ctx.Err() == nil {
			for _, path := range []string{"/mailboxes/me/messages", "/messages/" + id, "/messages/" + id + "/raw", "/domains"} {
				begun := clock.System().Now()
				status := untilMemory(t, "another's call "+path, func() int {
					statuses, _ := a.do(t, 1, http.MethodGet, path, box.Token, nil)
					return slices.Collect(maps.Keys(statuses))[0]
				})
				if status != http.StatusOK {
					t.Errorf("another's call %s: %d, want 200", path, status)
				}
				longest = max(longest, clock.System().Now().Sub(begun))
			}
		}
		worst <- longest
	}()
	return func() time.Duration {
		cancel()
		return <-worst
	}
}

// sent sends a mail to a mailbox and returns the message's path.
func (s *service) sent(t *testing.T, box mailbox, mail []byte) string {
	t.Helper()
	wantReply(t, "a mail", send(t, s.smtp, mail, box.Address), "250")
	return "/messages/" + s.messages(box)[0].ID
}

func images() []byte {
	png := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 300<<10)...)
	var m bytes.Buffer
	m.WriteString("From: Sender <sender@example.org>\r\nSubject: images\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat("<img src=\"cid:a\" alt=x>\r\n", 30_000) +
		"--b\r\nContent-Type: image/png\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\n\r\n")
	m.WriteString(apptest.Base64Lines(png))
	m.WriteString("--b--\r\n")
	return m.Bytes()
}

// TestCallsWithinLittleMemory lets one address make the most expensive calls to a service with 512 MiB, which stays
// alive and serves other addresses.
func TestCallsWithinLittleMemory(t *testing.T) {
	for _, c := range []struct {
		name   string
		attack func(t *testing.T, a attacker, box mailbox) string
	}{
		{"sign-ins with unknown fields", func(t *testing.T, a attacker, _ mailbox) string {
			var b strings.Builder
			for i := 0; b.Len() < 880_000; i++ {
				fmt.Fprintf(&b, `,"f%d":1`, i)
			}
			statuses, _ := a.do(t, 48, http.MethodPost, "/auth/token", "", []byte(`{"email":"a@example.org","password":"x"`+b.String()+"}"))
			return fmt.Sprint(statuses)
		}},
		{"arrays of half a million", func(t *testing.T, a attacker, _ mailbox) string {
			statuses, _ := a.do(t, 16, http.MethodPost, "/auth/token", "", []byte("["+strings.Repeat("1,", 499_999)+"1]"))
			return fmt.Sprint(statuses)
		}},
		{"downloads that are not read", func(t *testing.T, a attacker, box mailbox) string {
			path := a.sent(t, box, heavyMail(20*mib))
			a.unread(t, 200, path+"/raw", box.Token)
			statuses, octets := newAttacker(t, a.service, "127.0.0.5").do(t, 4, http.MethodGet, path+"/raw", box.Token, nil) // behind them
			return fmt.Sprint(statuses, octets)
		}},
		{"an image named often", func(t *testing.T, a attacker, box mailbox) string {
			statuses, octets := a.do(t, 8, http.MethodGet, a.sent(t, box, images()), box.Token, nil)
			return fmt.Sprint(statuses, octets)
		}},
		{"pages of long subjects", func(t *testing.T, a attacker, box mailbox) string {
			mail := sampleMail(strings.Repeat("x", mib-1000), "hello")
			for range 100 {
				wantReply(t, "a mail", send(t, a.smtp, mail, box.Address), "250")
			}
			statuses, octets := a.do(t, 8, http.MethodGet, "/mailboxes/me/messages?limit=100", box.Token, nil)
			return fmt.Sprint(statuses, octets)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newCgroup(t, 512*mib)
			s := start(t, options{wrap: g.wrap()})
			idle, box := g.rss(t), s.newMailbox()
			peak, stop := g.watch(t), others(t, s)
			begun := clock.System().Now()
			answers := c.attack(t, newAttacker(t, s, "127.0.0.3"), box)
			took := clock.System().Now().Sub(begun)
			worst := stop()
			t.Logf("%s in %s; resident: %d MiB before, at most %d MiB; another's call took %s at most",
				answers, took.Round(time.Millisecond), idle/mib, peak.Load()/mib, worst.Round(time.Millisecond))
			if !s.proc.running() {
				t.Fatal("the service was killed, want it to run on within its memory")
			}
		})
	}
}

// untilMemory repeats a call as long as it is refused with 503, as that refusal asks: how long others hold the memory that it needs depends
// on the machine. It returns the status of the last one.
func untilMemory(t *testing.T, what string, call func() int) (status int) {
	t.Helper()
	for deadline := clock.System().Now().Add(patience); ; <-time.After(100 * time.Millisecond) {
		status = call()
		if status != http.StatusServiceUnavailable || clock.System().Now().After(deadline) {
			return status
		}
		t.Logf("%s: refused for want of memory, repeated", what)
	}
}
