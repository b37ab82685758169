package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// sent is a mail that was answered 250.
type sent struct {
	box, code int
	took      time.Duration // from the content to the 250
}

// sender is one of the clients that send at the same time. It keeps its buffers from slice to slice.
type sender struct {
	n        int
	helo     string
	commands *stamped
	mails    []*stamped
	serial   int // of its next mail; no two senders share one
	in       *bufio.Reader
	held     []byte // room for a mail and QUIT
	taken    []sent
}

func newSenders(k kind, n int) []*sender {
	all := make([]*sender, n)
	for i := range all {
		s := &sender{n: i, helo: fmt.Sprintf("out.mail.shop%d.%s", i%8, senderZone[:len(senderZone)-1]), serial: i, in: bufio.NewReaderSize(nil, 2048)}
		for _, form := range k.forms {
			s.mails = append(s.mails, newStamped(stuffed(form(k.size, i))))
		}
		s.commands = newStamped(fmt.Appendf(nil, "MAIL FROM:<bounce@mail.shop%d.%s> SIZE=%d BODY=8BITMIME\r\nRCPT TO:<%s>\r\nDATA\r\n",
			i%8, senderZone[:len(senderZone)-1], len(s.mails[0].text), addressMark))
		all[i] = s
	}
	return all
}

// load is what the senders do in one slice.
type load struct {
	addrs  []string // the senders are spread among them
	boxes  []mailbox
	reuse  bool // one connection for all mails of a sender
	length time.Duration
	most   int  // mails of a sender; 0: as many as fit in length
	fixed  bool // a sender stays with the mailbox of its own number
}

// outcome is what a slice came to.
type outcome struct {
	taken   []sent
	elapsed time.Duration // until the last reply
}

func (o outcome) rate() float64 { return float64(len(o.taken)) / o.elapsed.Seconds() }

// run sends for the length of the slice; mails under way then are finished and count. Any reply but the good one ends the bench.
func (l load) run(ctx context.Context, all []*sender) (outcome, error) {
	begun := time.Now()
	until := begun.Add(l.length)
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, s := range all {
		group.Go(func() { errs[i] = s.work(ctx, l, len(all), until) })
	}
	group.Wait()
	o := outcome{elapsed: time.Since(begun)}
	for _, s := range all {
		o.taken = append(o.taken, s.taken...)
	}
	return o, errors.Join(errs...)
}

func (s *sender) work(ctx context.Context, l load, step int, until time.Time) (err error) {
	s.taken = s.taken[:0]
	var c *client
	defer func() {
		if c != nil {
			c.conn.Close()
		}
	}()
	for sends := 0; ctx.Err() == nil && time.Now().Before(until) && (l.most == 0 || sends < l.most); sends++ {
		if c == nil {
			if c, err = connect(ctx, l.addrs[s.n%len(l.addrs)], s.helo, s.in); err != nil {
				return err
			}
			c.out = s.held
		}
		if err := s.one(c, l); err != nil {
			return err
		}
		s.serial += step
		if !l.reuse {
			s.held = c.out
			err := c.bye()
			c = nil
			if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (s *sender) one(c *client, l load) error {
	box, code := (s.serial/len(l.boxes)+s.serial*7)%len(l.boxes), codeOf(s.serial)
	if l.fixed {
		box = s.n % len(l.boxes)
	}
	address := l.boxes[box].Address
	commands := s.commands.stamp(code, s.serial, address)
	mail := s.mails[s.serial/senders%len(s.mails)].stamp(code, s.serial, address)
	if err := c.send(commands, 1, mail, !l.reuse); err != nil {
		return fmt.Errorf("sender %d: %w", s.n, err)
	}
	s.taken = append(s.taken, sent{box, code, c.took})
	return nil
}
