package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// crowdPolls is how many long-polls are open at once; reserve is how many files a process needs beside.
const (
	crowdPolls = 10_000
	reserve    = 500
)

func pollsPart(ctx context.Context, b *bench) error {
	tries, open := 500, min(crowdPolls, fileLimit()-reserve)
	if b.quick {
		tries, open = 100, min(2000, open)
	}
	dir := b.dataDir()
	g, err := b.startGonebox(ctx, dir, nil)
	if err != nil {
		return err
	}
	b.report.note("polls: create %d mailboxes", open+1)
	boxes, err := g.newBoxes(ctx, 0, open+1)
	g.stop() // so that the memory of making them is not taken for the polls', nor hides it
	if err != nil {
		return err
	}
	if err := b.otherWaits(ctx, dir, boxes[1:]); err != nil {
		return err
	}
	if g, err = b.startGonebox(ctx, dir, nil); err != nil {
		return err
	}
	defer g.stop()
	b.report.note("polls: %d tries alone", tries)
	alone, err := g.delays(ctx, &boxes[0], tries)
	if err != nil {
		return err
	}
	crowd, err := b.openCrowd(ctx, g, boxes[1:], longPoll)
	if err != nil {
		return err
	}
	defer crowd.close()
	b.report.note("polls: tries beside %d open ones", len(crowd.conns))
	beside, err := g.delaysWithin(ctx, &boxes[0], tries, crowd.begun.Add(crowdWait-8*time.Second))
	if err != nil {
		return err
	}
	if n := crowd.answered(); n > 0 {
		return fmt.Errorf("%d of %d long-polls ended before their time", n, len(crowd.conns))
	}
	b.report.polls(alone, beside, crowd)
	crowd.close()
	g.stop()
	return b.waitCost(ctx, open)
}

// waitCost sends mail in turns to two services, of which one holds many long-polls: first the one, then the other.
func (b *bench) waitCost(ctx context.Context, open int) error {
	rounds, length := b.rounds(16)
	var services [2]*contestant
	var boxes [2][]mailbox
	for i := range services {
		c, err := b.openService(ctx, ours, nil, nil)
		if err != nil {
			return err
		}
		defer c.gonebox.stop()
		if boxes[i], err = c.gonebox.newBoxes(ctx, boxCount, open); err != nil {
			return err
		}
		services[i] = c
	}
	m := &mailCase{kind: small(), reuse: true, crowd: newSenders(small(), senders), cells: make(map[string]*cell)}
	for i, c := range services {
		b.report.note("polls: mail beside %d open ones, then none", open)
		crowd, err := b.openCrowd(ctx, c.gonebox, boxes[i], longPoll)
		if err != nil {
			return err
		}
		defer crowd.close()
		services[i].name, services[1-i].name = "with", "without"
		for round := 0; round <= rounds && time.Since(crowd.begun) < crowdWait-5*length; round++ {
			for turn := range services {
				if err := services[(turn+round)%2].slice(ctx, m, length, round > 0); err != nil {
					return err
				}
			}
		}
		if n := crowd.answered(); n > 0 {
			return fmt.Errorf("%d of %d long-polls ended before their time", n, open)
		}
		crowd.close()
	}
	with, without := m.cell("with"), m.cell("without")
	b.report.table([][]string{
		{fmt.Sprintf("mail beside %d long-polls, of the mail beside none, %d rounds", open, len(with.rate)), "rate", "CPU time"},
		{m.name(), with.rate.over(without.rate).spread("%.3f"), with.cpu.over(without.cpu).spread("%.3f")},
	})
	b.report.target("cost of open long-polls to the mail rate", 1-with.rate.over(without.rate).median(), 0.03, true, "")
	b.report.target("likewise by CPU time", with.cpu.over(without.cpu).median()-1, 0.03, true, "")
	return nil
}

// delay is how long a long-poll took to answer.
type delays struct {
	after250 series // milliseconds from the reply 250 to the whole answer; negative where the answer was first
	sent     series // milliseconds from sending the content to the whole answer
}

func (g *gonebox) delays(ctx context.Context, box *mailbox, tries int) (delays, error) {
	return g.delaysWithin(ctx, box, tries, time.Now().Add(2*time.Minute))
}

// delaysWithin polls a mailbox and sends it a mail, again and again, at most until a time.
func (g *gonebox) delaysWithin(ctx context.Context, box *mailbox, tries int, until time.Time) (delays, error) {
	var d delays
	poll, err := dial(ctx, g.web)
	if err != nil {
		return d, err
	}
	defer poll.conn.Close()
	s := newSenders(small(), 1)[0]
	mail, err := connect(ctx, g.smtp, s.helo, s.in)
	if err != nil {
		return d, err
	}
	defer mail.conn.Close()
	for range tries {
		if ctx.Err() != nil || time.Now().After(until) {
			break
		}
		if err := d.once(poll, mail, s, box); err != nil {
			return d, err
		}
	}
	return d, ctx.Err()
}

func (d *delays) once(poll *caller, mail *client, s *sender, box *mailbox) error {
	path := base + "/mailboxes/me/messages?wait=30"
	if box.last != "" {
		path += "&after=" + box.last
	}
	if _, err := poll.conn.Write(request("GET", path, box.Token, "")); err != nil {
		return err
	}
	time.Sleep(5 * time.Millisecond) // by then the poll waits; if not, it answers no later for it
	answered := make(chan error, 1)
	var at time.Time
	go func() {
		status, err := poll.answer()
		at = time.Now()
		if err == nil && status != 200 {
			err = fmt.Errorf("long-poll: status %d: %s", status, poll.body)
		}
		answered <- err
	}()
	if err := errors.Join(poll.conn.SetDeadline(time.Now().Add(patience)), mail.conn.SetDeadline(time.Now().Add(patience))); err != nil {
		return err
	}
	begun := time.Now()
	if err := s.one(mail, load{boxes: []mailbox{*box}, reuse: true}); err != nil {
		return err
	}
	taken := time.Now()
	s.serial++
	if err := <-answered; err != nil {
		return err
	}
	d.after250 = append(d.after250, at.Sub(taken).Seconds()*1000)
	d.sent = append(d.sent, at.Sub(begun).Seconds()*1000)
	return poll.remember(box)
}

// crowdWait is how long the crowd's long-polls ask to wait: the most that the interface allows.
const crowdWait = 60 * time.Second

// crowd is many long-polls whose answers are not read.
type crowd struct {
	conns         []net.Conn
	begun         time.Time
	before, after int64 // the server's resident memory
	took          time.Duration
}

// otherWaits measures the memory of the waits that are no long-polls, each kind in a process of its own.
func (b *bench) otherWaits(ctx context.Context, dir string, boxes []mailbox) error {
	for _, k := range []struct {
		name string
		wait func(*mailbox) []byte
	}{{"event stream", eventStream}, {"wait of an agent's tool over HTTP", toolWait}} {
		g, err := b.startGonebox(ctx, dir, nil)
		if err != nil {
			return err
		}
		c, err := b.openCrowd(ctx, g, boxes, k.wait)
		if err == nil {
			b.report.say("  memory of an open %s: %.1f KiB (%d of them, opened in %s)", k.name, c.each(), len(c.conns), c.took.Round(time.Millisecond))
			c.close()
		}
		g.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// longPoll, eventStream and toolWait are the requests that wait for mail in a mailbox.
func longPoll(box *mailbox) []byte {
	return request("GET", fmt.Sprintf("%s/mailboxes/me/messages?wait=%.0f", base, crowdWait.Seconds()), box.Token, "")
}

func eventStream(box *mailbox) []byte {
	return request("GET", base+"/mailboxes/me/events", box.Token, "")
}

func toolWait(box *mailbox) []byte {
	return request("POST", "/mcp", box.Token, fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_message","arguments":{"mailbox":%q,"seconds":55}}}`, box.Address))
}

// each is the memory of a wait in KiB.
func (c *crowd) each() float64 { return float64(c.after-c.before) / float64(len(c.conns)) / 1024 }

func (b *bench) openCrowd(ctx context.Context, g *gonebox, boxes []mailbox, wait func(*mailbox) []byte) (*crowd, error) {
	c := &crowd{}
	var err error
	if c.before, err = g.memory(); err != nil {
		return nil, err
	}
	c.begun = time.Now()
	for _, box := range boxes {
		conn, err := (&net.Dialer{KeepAlive: -1}).DialContext(ctx, "tcp", g.web)
		if err == nil {
			c.conns = append(c.conns, conn)
			_, err = conn.Write(wait(&box))
		}
		if err != nil {
			c.close()
			return nil, fmt.Errorf("open wait %d: %w", len(c.conns), err)
		}
	}
	c.took = time.Since(c.begun)
	if err := c.settle(ctx, g); err != nil {
		c.close()
		return nil, err
	}
	c.after, err = g.memory()
	return c, err
}

// settle waits until the server has done what there is to do for requests that have just come: until it uses no CPU time.
func (c *crowd) settle(ctx context.Context, g *gonebox) error {
	last, err := g.cpu()
	for range 40 {
		if err != nil || ctx.Err() != nil {
			break
		}
		time.Sleep(250 * time.Millisecond)
		var now time.Duration
		if now, err = g.cpu(); now-last < 2*tick {
			break
		}
		last = now
	}
	return errors.Join(err, ctx.Err())
}

func (c *crowd) close() {
	for _, conn := range c.conns {
		conn.Close()
	}
}

// answered counts the connections on which something has come.
func (c *crowd) answered() int {
	n := 0
	for _, conn := range c.conns {
		raw, err := conn.(syscall.Conn).SyscallConn()
		if err != nil {
			continue
		}
		_ = raw.Control(func(fd uintptr) { // fails for a closed connection only
			var one [1]byte
			if _, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT); !errors.Is(err, unix.EAGAIN) {
				n++
			}
		})
	}
	return n
}

func (r *report) polls(alone, beside delays, c *crowd) {
	r.say("\nLONG-POLLS: a mail of 4 KiB on an open connection, the poll on another; milliseconds, median / 99th percentile")
	quantiles := func(s series) string { return fmt.Sprintf("%.2f / %.2f", s.median(), s.quantile(0.99)) }
	rows := [][]string{{"", "tries", "250 to answer", "MAIL to answer"}}
	rows = append(rows, []string{"one long-poll", fmt.Sprint(len(alone.sent)), quantiles(alone.after250), quantiles(alone.sent)})
	rows = append(rows, []string{fmt.Sprintf("beside %d others", len(c.conns)), fmt.Sprint(len(beside.sent)), quantiles(beside.after250), quantiles(beside.sent)})
	r.table(rows)
	r.target("250 to answer, 99th percentile", alone.after250.quantile(0.99), 50, true, " ms")
	r.target(fmt.Sprintf("likewise beside %d others", len(c.conns)), beside.after250.quantile(0.99), 50, true, " ms")
	r.say("  resident memory: %.1f MiB before, %.1f MiB with %d long-polls open, each on a mailbox and a connection of its own (opened in %s)",
		mebibytes(c.before), mebibytes(c.after), len(c.conns), c.took.Round(time.Millisecond))
	r.target("memory of an open long-poll", c.each(), 20, true, " KiB")
}

func mebibytes(octets int64) float64 { return float64(octets) / (1 << 20) }
