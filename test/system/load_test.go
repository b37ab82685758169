package system_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// load is a number of senders who continue through crashes of the service and remember the replies.
type load struct {
	addr  string
	boxes []mailbox
	seed  uint64

	mu     sync.Mutex
	ending bool
	sent   []*sending
	acked  int
	strays []string // replies that no sender should ever get
	faults []string // failures that a graceful restart must not cause
}

// sending is one mail that a sender began to send. It is never sent again.
type sending struct {
	token string
	to    []int // indices of the mailboxes
	data  []byte
	acked bool // 250 was heard
}

// run sends mails until ctx ends; n is the sender's number.
func (l *load) run(ctx context.Context, n int) {
	rng := rand.New(rand.NewPCG(l.seed, uint64(n)))
	for serial := 0; ctx.Err() == nil && !l.over(); {
		c, err := dial(ctx, l.addr)
		if err != nil { // the service is down
			l.fault(err)
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		stop := context.AfterFunc(ctx, func() { c.conn.Close() })
		for range 1 + rng.IntN(20) {
			serial++
			if !l.send(c, l.compose(rng, fmt.Sprintf("tkn-%d-%d-%d.", l.seed, n, serial))) {
				break
			}
		}
		stop()
		c.conn.Close()
	}
}

// compose makes a mail with a token in its text: most are short, a few are long, and some so large that they are stored
// in several transactions. Every third has two recipients.
func (l *load) compose(rng *rand.Rand, token string) *sending {
	first := rng.IntN(len(l.boxes))
	m := &sending{token: token, to: []int{first}}
	if rng.IntN(3) == 0 {
		m.to = append(m.to, (first+1+rng.IntN(len(l.boxes)-1))%len(l.boxes))
	}
	lines := rng.IntN(10)
	if rng.IntN(20) == 0 {
		lines = rng.IntN(1000)
	}
	if rng.IntN(100) == 0 {
		lines = 40_000
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\r\n", token)
	for range lines {
		fmt.Fprintf(&text, "%x%x\r\n", rng.Uint64(), rng.Uint64()) // does not compress well
	}
	m.data = sampleMail("under load", text.String())
	return m
}

// send sends one mail and reports whether the session can continue.
func (l *load) send(c *client, m *sending) bool {
	to := make([]string, len(m.to))
	for i, box := range m.to {
		to[i] = l.boxes[box].Address
	}
	l.mu.Lock()
	l.sent = append(l.sent, m)
	l.mu.Unlock()
	reply, err := c.send("sender@example.org", to, m.data)
	if err != nil {
		l.fault(err)
		return false
	}
	if !isPolite(reply) {
		l.fault(errors.New(reply))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case strings.HasPrefix(reply, "250 "):
		m.acked = true
		l.acked++
	case !strings.HasPrefix(reply, "4"):
		l.strays = append(l.strays, reply)
	}
	return m.acked
}

// end waits until each sender has sent what it has begun.
func (l *load) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending = true
}

func (l *load) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending
}

func (l *load) fault(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, err.Error())
}

func (l *load) faulty() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faults
}

// copies is how many messages the acknowledged mails make.
func (l *load) copies() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.sent {
		if m.acked {
			n += len(m.to)
		}
	}
	return n
}

// acknowledged is how many mails were answered 250 so far.
func (l *load) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}
