package catchall

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func message(octets int) string {
	const header = "Delivered-To: ada@box.example\r\n\r\n"
	return header + strings.Repeat("x", octets-len(header))
}

// A server that falls silent is given up; one that sends steadily is not, however long a message takes, within an hour.
func TestTransferEndsWithoutProgress(t *testing.T) {
	const octets = 100_000
	for name, test := range map[string]struct {
		pause func(sent int) time.Duration // before 1,000 octets
		want  time.Duration                // how long fetch takes
		fails bool
	}{
		"at once":                {func(int) time.Duration { return 0 }, 0, false},
		"steadily":               {func(int) time.Duration { return 15 * time.Second }, 25 * time.Minute, false},
		"silent from the start":  {func(int) time.Duration { return 24 * time.Hour }, answerIn, true},
		"silent in the middle":   {func(sent int) time.Duration { return time.Duration(sent/50_000) * 24 * time.Hour }, answerIn, true},
		"silent after ten steps": {func(sent int) time.Duration { return time.Duration(1+sent/10_000*100) * time.Second }, 10*time.Second + answerIn, true},
		"silent for a while":     {func(sent int) time.Duration { return time.Duration(sent%20_000/19_000) * 19 * time.Second }, 95 * time.Second, false},
		"for more than an hour":  {func(int) time.Duration { return 19*time.Second + 800*time.Millisecond }, 33 * time.Minute, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &fakeServer{messages: map[int]string{1: message(octets)}, pause: func(sent int) { time.Sleep(test.pause(sent)) }}
			c, err := newReader(t, server, &fakeIngress{}).connect(t.Context())
			if err != nil {
				t.Fatalf("%s: connect(): %v", name, err)
			}
			began := time.Now()
			data, err := c.fetch(1, octets)
			if took := time.Since(began); took != test.want || (err != nil) != test.fails || err == nil && len(data) != octets {
				t.Errorf("%s: fetch(1, %d) = %d octets, %v after %v, want an error %v after %v", name, octets, len(data), err, took, test.fails, test.want)
			}
			c.close()
		})
	}
}

// A transfer that never ends is cut, also if octets come steadily.
func TestTransferIsBoundedInTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const octets = 1_000_000
		server := &fakeServer{messages: map[int]string{1: message(octets)}, pause: func(int) { time.Sleep(15 * time.Second) }}
		c, err := newReader(t, server, &fakeIngress{}).connect(t.Context())
		if err != nil {
			t.Fatalf("connect(): %v", err)
		}
		defer c.close()
		began := time.Now()
		if _, err := c.fetch(1, octets); err == nil || time.Since(began) != commandMost {
			t.Errorf("fetch(1, %d) of a message that comes within four hours: error %v after %v, want one after %v", octets, err, time.Since(began), commandMost)
		}
	})
}

// A command whose answer comes behind a large message waits for that message.
func TestCommandWaitsBehindTransfer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const octets = 20_000
		server := &fakeServer{messages: map[int]string{1: message(octets), 2: "x"}, pause: func(int) { time.Sleep(10 * time.Second) }}
		c, err := newReader(t, server, &fakeIngress{}).connect(t.Context())
		if err != nil {
			t.Fatalf("connect(): %v", err)
		}
		defer c.close()
		fetched := make(chan error, 1)
		go func() {
			_, err := c.fetch(1, octets)
			fetched <- err
		}()
		synctest.Wait()
		if size, err := c.size(2); size != 1 || err != nil {
			t.Errorf("size(2) behind a transfer of 200 s = %d, %v, want 1 and no error", size, err)
		}
		if err := <-fetched; err != nil {
			t.Errorf("fetch(1, %d) in 200 s: %v", octets, err)
		}
	})
}

// After a lost connection the reader has another one within 40 s, whatever it was doing.
func TestLostConnectionIsReplaced(t *testing.T) {
	for _, during := range []string{"UID SEARCH", "UID FETCH 1 (UID RFC822.SIZE", "UID FETCH 1 (UID BODY", "UID STORE", "UID EXPUNGE", "IDLE", "LOGIN", "SELECT"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var mu sync.Mutex // guards lost and replaced
			var lost, replaced time.Time
			silent := make(chan struct{})
			server := &fakeServer{messages: map[int]string{1: message(2000)}}
			server.before = func(command string) {
				mu.Lock()
				first := lost.IsZero() && strings.HasPrefix(command, during)
				if first {
					lost = time.Now()
				} else if !lost.IsZero() && replaced.IsZero() {
					replaced = time.Now()
				}
				mu.Unlock()
				if first {
					<-silent
				}
			}
			in := &fakeIngress{}
			r := newReader(t, server, in)
			done := make(chan struct{})
			go func() {
				defer close(done)
				r.Run(ctx)
			}()
			time.Sleep(5 * time.Minute)
			close(silent)
			cancel()
			<-done
			if took := replaced.Sub(lost); lost.IsZero() || replaced.IsZero() || took > 40*time.Second {
				t.Errorf("the server falls silent during %s at %v, and the reader's next connection says something at %v, want within 40 s", during, lost, replaced)
			}
			if server.left() > 0 || len(in.stored) == 0 {
				t.Errorf("after the server fell silent during %s: stored %q, left %d messages, want the message stored and deleted", during, in.stored, server.left())
			}
		})
	}
}
