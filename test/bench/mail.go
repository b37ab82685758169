package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// boxCount is how many mailboxes the mails of a comparison are spread over.
const boxCount = 64

// contestant is one of the servers that take turns.
type contestant struct {
	name string
	addr string
	*process
	gonebox      *gonebox          // nil: another server
	peer         *peer             // nil: the service, or a receiver that stores nothing
	more         []*gonebox        // other processes of the same service, among which the senders are spread
	database     *dbtest.Server    // nil: the server needs no other process
	settings     map[string]string // of its own
	boxes        []mailbox         // the recipients
	peak         int64             // octets of memory
	taken, coded int               // mails that were answered 250, and of those the ones whose code was found
}

// mailCase is one of the ways in which mail is sent.
type mailCase struct {
	kind  kind
	reuse bool
	crowd []*sender
	cells map[string]*cell // by contestant
}

func (c *mailCase) name() string {
	if c.reuse {
		return c.kind.name + ", connections reused"
	}
	return c.kind.name + ", a connection each"
}

func (c *mailCase) cell(name string) *cell {
	if c.cells[name] == nil {
		c.cells[name] = &cell{}
	}
	return c.cells[name]
}

// cell has the figures of a contestant in one case, round by round.
type cell struct {
	rate      series // mails a second
	cpu       series // milliseconds of the server's CPU time a mail, which is seconds per 1,000 mails
	database  series // likewise, of its database server
	both      series // likewise, of all of them and the load generator
	generator series // the load generator's share of the CPU time of server and generator
	others    series // share of the machine's CPU time that went to unrelated processes
	p50, p99  series // milliseconds from a mail's content to its 250
}

func (c *cell) add(o outcome, u usage) {
	mails := float64(len(o.taken))
	c.rate = append(c.rate, o.rate())
	c.cpu = append(c.cpu, u.server.Seconds()*1000/mails)
	c.database = append(c.database, u.database.Seconds()*1000/mails)
	c.both = append(c.both, (u.server+u.database+u.own).Seconds()*1000/mails)
	c.generator = append(c.generator, u.own.Seconds()/(u.own+u.server).Seconds())
	var took series
	for _, one := range o.taken {
		took = append(took, one.took.Seconds()*1000)
	}
	c.p50, c.p99 = append(c.p50, took.quantile(0.5)), append(c.p99, took.quantile(0.99))
	c.others = append(c.others, max(0, (u.machine-u.own-u.server-u.database).Seconds())/(u.elapsed.Seconds()*float64(runtime.NumCPU())))
}

func mailCases() []*mailCase {
	var all []*mailCase
	for _, k := range []kind{small(), large()} {
		crowd := newSenders(k, senders)
		for _, reuse := range []bool{false, true} {
			all = append(all, &mailCase{kind: k, reuse: reuse, crowd: crowd, cells: make(map[string]*cell)})
		}
	}
	return all
}

// compare has the contestants take turns in every case, for some rounds of slices of the given length. The first round
// warms everything up and is not counted.
func (b *bench) compare(ctx context.Context, part string, all []*contestant, rounds int, length time.Duration) ([]*mailCase, error) {
	cases := mailCases()
	for round := range rounds + 1 {
		b.report.note("%s: round %d of %d", part, round, rounds)
		for _, m := range cases {
			for turn := range all {
				c := all[(turn+round)%len(all)]
				if err := c.slice(ctx, m, length, round > 0); err != nil {
					return nil, fmt.Errorf("%s, %s: %w", c.name, m.name(), err)
				}
			}
		}
	}
	return cases, nil
}

// slice sends mail to the contestant for a while. It then checks that it holds exactly the mails it answered 250, or, with a server of
// others, as many.
func (c *contestant) slice(ctx context.Context, m *mailCase, length time.Duration, counts bool) error {
	processes, addrs := []*process{c.process}, []string{c.addr}
	for _, g := range c.more {
		processes, addrs = append(processes, g.process), append(addrs, g.smtp)
	}
	g, err := startGauge(c.database, processes...)
	if err != nil {
		return err
	}
	o, err := load{addrs: addrs, boxes: c.boxes, reuse: m.reuse, length: length}.run(ctx, m.crowd)
	if err != nil {
		return err
	}
	// The work after the replies counts as the server's and must not slow the next contestant.
	time.Sleep(100 * time.Millisecond)
	for begun := time.Now(); c.peer != nil && c.peer.drained != nil && !c.peer.drained() && time.Since(begun) < patience; {
		time.Sleep(20 * time.Millisecond)
	}
	used, err := g.read()
	if err != nil {
		return err
	}
	if counts {
		m.cell(c.name).add(o, used)
	}
	peak, err := c.process.peak()
	c.peak = max(c.peak, peak)
	if err != nil || c.gonebox == nil && c.peer == nil {
		return err
	}
	if c.peer != nil {
		stored, err := c.peer.fresh(ctx, c.boxes)
		if err == nil && stored != len(o.taken) {
			err = fmt.Errorf("%d mails were answered 250, %d stored", len(o.taken), stored)
		}
		return err
	}
	coded, err := c.gonebox.verify(ctx, c.boxes, o.taken)
	c.taken, c.coded = c.taken+len(o.taken), c.coded+coded
	return err
}

// The contestants of the mail part.
const (
	ours    = "gonebox"
	earlier = "before"
	library = "bare go-smtp"
)

// mailPart compares the service with a receiver that stores nothing and with servers of others.
func mailPart(ctx context.Context, b *bench) error {
	rounds, length := b.rounds(7)
	first, err := b.openService(ctx, ours, nil, nil)
	if err != nil {
		return err
	}
	defer first.gonebox.stop()
	p, addr, err := startSelf(ctx, receiverCommand)
	if err != nil {
		return err
	}
	defer p.stop()
	all := []*contestant{first, {name: library, addr: addr, process: p, boxes: first.boxes}}
	if b.peers {
		peers, err := b.startPeers(ctx)
		defer func() { stopAll(peers) }()
		if err != nil {
			return err
		}
		for _, p := range peers {
			all = append(all, &contestant{name: p.name, addr: p.smtp, process: p.process, peer: p, boxes: first.boxes})
		}
	}
	if b.before != "" {
		other := *b
		other.binary, other.folders = b.before, b.folders+1
		before, err := other.openService(ctx, earlier, nil, nil)
		if err != nil {
			return err
		}
		defer before.gonebox.stop()
		all = append(all, before)
	}
	cases, err := b.compare(ctx, "mail", all, rounds, length)
	if err != nil {
		return err
	}
	b.report.mail(all, cases, rounds, length)
	if b.before != "" {
		b.report.change(cases)
	}
	return nil
}

// rounds returns the number of rounds and the length of a slice.
func (b *bench) rounds(n int) (int, time.Duration) {
	if b.quick {
		return 3, 700 * time.Millisecond
	}
	return n, 1250 * time.Millisecond
}

// openService starts the service as a contestant, and makes the mailboxes.
func (b *bench) openService(ctx context.Context, name string, database *dbtest.Server, own map[string]string) (*contestant, error) {
	g, err := b.startGonebox(ctx, b.dataDir(), own)
	if err != nil {
		return nil, err
	}
	c := &contestant{name: name, addr: g.smtp, process: g.process, gonebox: g, database: database}
	if c.boxes, err = g.newBoxes(ctx, 0, boxCount); err != nil {
		g.stop()
		return nil, err
	}
	return c, nil
}

// usage is CPU time used between two moments.
type usage struct {
	server, own, machine, elapsed time.Duration
	database                      time.Duration // used by a database server beside the server under test
}

// gauge measures the CPU time used since it was started.
type gauge struct {
	processes []*process
	database  *dbtest.Server // nil: none
	begun     time.Time
	at        usage
}

func startGauge(database *dbtest.Server, processes ...*process) (*gauge, error) {
	g := &gauge{processes: processes, database: database}
	var err error
	g.at, err = g.now()
	g.begun = time.Now()
	return g, err
}

func (g *gauge) now() (u usage, err error) {
	if g.database != nil {
		if u.database, err = g.database.CPU(); err != nil {
			return u, err
		}
	}
	u.own, u.machine = ownCPU(), machineCPU()
	for _, p := range g.processes {
		used, err := p.cpu()
		if err != nil {
			return u, err
		}
		u.server += used
	}
	return u, nil
}

func (g *gauge) read() (usage, error) {
	u, err := g.now()
	return usage{
		server: u.server - g.at.server, own: u.own - g.at.own, machine: u.machine - g.at.machine, database: u.database - g.at.database,
		elapsed: time.Since(g.begun),
	}, err
}
