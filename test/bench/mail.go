package main

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// boxCount is how many mailboxes the mails of the mail part are spread over.
const boxCount = 64

// contestant is one of the servers that take turns.
type contestant struct {
	name string
	addr string
	*process
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

// cell is what a contestant did in one case, round by round.
type cell struct {
	rate      series // mails a second
	cpu       series // milliseconds of the server's CPU time a mail, which is seconds per 1,000 mails
	database  series // likewise, of a database server beside it
	both      series // likewise, of all of them with the load generator's
	generator series // share of CPU time that the load generator used of what both used
	others    series // share of the machine's CPU time that went to processes that are no part of this
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

// The contestants.
const (
	ours     = "gonebox"
	library  = "bare go-smtp"
	simplest = "plain receiver"
)

// arena is where the contestants are.
type arena struct {
	all     []contestant
	gonebox *gonebox
	boxes   []mailbox
	taken   int // mails that gonebox answered 250
	coded   int // of which it found the code
}

func (b *bench) openArena(ctx context.Context) (*arena, error) {
	g, err := b.startGonebox(ctx, b.dataDir())
	if err != nil {
		return nil, err
	}
	a := &arena{gonebox: g, all: []contestant{{ours, g.smtp, g.process}}}
	if a.boxes, err = g.newBoxes(ctx, 0, boxCount); err != nil {
		a.close()
		return nil, err
	}
	for _, r := range []struct{ name, receiver string }{{library, "receiver-go-smtp"}, {simplest, "receiver-plain"}} {
		p, addr, err := startSelf(ctx, r.receiver, "")
		if err != nil {
			a.close()
			return nil, err
		}
		a.all = append(a.all, contestant{r.name, addr, p})
	}
	return a, nil
}

func (a *arena) close() {
	a.gonebox.stop()
	for _, c := range a.all[1:] {
		c.stop()
	}
}

func mailPart(ctx context.Context, b *bench) error {
	rounds, length := 7, 1250*time.Millisecond
	if b.quick {
		rounds, length = 3, 700*time.Millisecond
	}
	a, err := b.openArena(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	cases := mailCases()
	for round := range rounds + 1 { // the first warms everything up and is not counted
		b.report.note("mail: round %d of %d", round, rounds)
		for _, m := range cases {
			for turn := range a.all {
				c := a.all[(turn+round)%len(a.all)]
				if err := a.slice(ctx, m, c, length, round > 0); err != nil {
					return fmt.Errorf("%s, %s: %w", c.name, m.name(), err)
				}
			}
		}
	}
	b.report.mail(a, cases, rounds, length)
	return nil
}

// slice lets one contestant take mail, and looks afterwards whether gonebox has it all.
func (a *arena) slice(ctx context.Context, m *mailCase, c contestant, length time.Duration, counts bool) error {
	g, err := startGauge(c.process)
	if err != nil {
		return err
	}
	o, err := load{addr: c.addr, boxes: a.boxes, reuse: m.reuse, length: length}.run(ctx, m.crowd)
	if err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // the work after the replies counts as the server's cost and must not slow the next contestant
	used, err := g.read()
	if err != nil {
		return err
	}
	if counts {
		m.cell(c.name).add(o, used)
	}
	if c.name != ours {
		return nil
	}
	coded, err := a.gonebox.verify(ctx, a.boxes, o.taken)
	a.taken, a.coded = a.taken+len(o.taken), a.coded+coded
	return err
}

func (c *mailCase) cell(name string) *cell {
	if c.cells[name] == nil {
		c.cells[name] = &cell{}
	}
	return c.cells[name]
}

func (c *cell) add(o outcome, u usage) {
	c.rate = append(c.rate, o.rate())
	c.cpu = append(c.cpu, u.server.Seconds()*1000/float64(len(o.taken)))
	c.database = append(c.database, u.database.Seconds()*1000/float64(len(o.taken)))
	c.both = append(c.both, (u.server+u.database+u.own).Seconds()*1000/float64(len(o.taken)))
	c.generator = append(c.generator, u.own.Seconds()/(u.own+u.server).Seconds())
	c.others = append(c.others, max(0, (u.machine-u.own-u.server).Seconds())/(u.elapsed.Seconds()*float64(runtime.NumCPU())))
}

// usage is CPU time used between two moments.
type usage struct {
	server, own, machine, elapsed time.Duration
	database                      time.Duration // used by a database server beside the server under test
}

// gauge remembers the first moment.
type gauge struct {
	process *process
	begun   time.Time
	at      usage
}

func startGauge(p *process) (*gauge, error) {
	g := &gauge{process: p}
	var err error
	g.at, err = g.now()
	g.begun = time.Now()
	return g, err
}

func (g *gauge) now() (usage, error) {
	server, err := g.process.cpu()
	return usage{server: server, own: ownCPU(), machine: machineCPU()}, err
}

func (g *gauge) read() (usage, error) {
	u, err := g.now()
	return usage{server: u.server - g.at.server, own: u.own - g.at.own, machine: u.machine - g.at.machine, elapsed: time.Since(g.begun)}, err
}
