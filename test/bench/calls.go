package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

const (
	callers    = 16 // clients that call at the same time, each on a connection that is kept
	callsHeld  = 50 // messages in each mailbox that is read
	callsBoxes = 16
)

// The calls that servers of others answer too.
const (
	listCall    = "list of 20"
	messageCall = "one message"
)

// call is a kind of call that is measured, as the requests that a client sends in turn.
type call struct {
	name     string
	status   int // of the answer; 0: 200
	requests [][]byte
	octets   int // of the body of an answer
	rate     series
	cpu      series
}

// server is a server that answers calls.
type server struct {
	*process
	web, name string
	database  *dbtest.Server // nil: it needs no other process
	calls     []call
}

// named is the server's call of a name, or nil.
func (s *server) named(name string) *call {
	for i := range s.calls {
		if s.calls[i].name == name {
			return &s.calls[i]
		}
	}
	return nil
}

func callsPart(ctx context.Context, b *bench) error {
	rounds, length := 6, time.Second
	if b.quick {
		rounds, length = 3, 500*time.Millisecond
	}
	g, err := b.startGonebox(ctx, b.dataDir(), nil)
	if err != nil {
		return err
	}
	defer g.stop()
	b.report.note("calls: fill %d mailboxes with %d messages each", callsBoxes, callsHeld)
	boxes, err := g.filled(ctx, callsBoxes, callsHeld)
	if err != nil {
		return err
	}
	calls, err := g.calls(ctx, boxes)
	if err != nil {
		return err
	}
	p, addr, err := startSelf(ctx, answererCommand)
	if err != nil {
		return err
	}
	defer p.stop()
	bare := &server{process: p, web: addr, name: "bare net/http"}
	for _, c := range calls {
		bare.calls = append(bare.calls, call{name: c.name, requests: [][]byte{request("GET", fmt.Sprintf("/octets/%d", c.octets), "", "")}})
	}
	others, stop, err := b.otherCalls(ctx, boxes)
	defer stop()
	if err != nil {
		return err
	}
	all := append([]*server{{process: g.process, web: g.web, name: ours, calls: calls}, bare}, others...)
	for round := range rounds + 1 {
		b.report.note("calls: round %d of %d", round, rounds)
		for _, c := range calls {
			for turn := range all {
				s := all[(turn+round)%len(all)]
				if k := s.named(c.name); k != nil {
					if err := k.slice(ctx, *s, length, round > 0); err != nil {
						return fmt.Errorf("%s: %w", s.name, err)
					}
				}
			}
		}
	}
	b.report.calls(all, rounds, length)
	return nil
}

// otherCalls starts another version of the service, if there is one, and the servers of others, and fills them. The function that it returns
// stops them.
func (b *bench) otherCalls(ctx context.Context, boxes []mailbox) (all []*server, stop func(), err error) {
	var peers []*peer
	var before *gonebox
	stop = func() {
		stopAll(peers)
		if before != nil {
			before.stop()
		}
	}
	if b.before != "" {
		other := *b
		other.binary, other.folders = b.before, b.folders+1
		if before, err = other.startGonebox(ctx, other.dataDir(), nil); err != nil {
			return nil, stop, err
		}
		held, err := before.filled(ctx, callsBoxes, callsHeld)
		if err != nil {
			return nil, stop, err
		}
		calls, err := before.calls(ctx, held)
		if err != nil {
			return nil, stop, err
		}
		all = append(all, &server{process: before.process, web: before.web, name: earlier, calls: calls})
	}
	if !b.peers {
		return all, stop, nil
	}
	if peers, err = b.startPeers(ctx); err != nil {
		return nil, stop, err
	}
	for _, p := range peers {
		if p.reads == nil {
			continue
		}
		s, err := p.filled(ctx, boxes)
		if err != nil {
			return nil, stop, fmt.Errorf("%s: %w", p.name, err)
		}
		all = append(all, s)
	}
	return all, stop, nil
}

// filled sends a server of others as many mails as its list of a mailbox should have, and prepares its calls.
func (p *peer) filled(ctx context.Context, boxes []mailbox) (*server, error) {
	each := callsHeld
	if p.name == inbucket {
		each = 20 // it lists all that a mailbox holds
	}
	o, err := load{addrs: []string{p.smtp}, boxes: boxes, reuse: true, length: time.Minute, most: each, fixed: true}.run(ctx, newSenders(small(), len(boxes)))
	if err != nil || len(o.taken) != each*len(boxes) {
		return nil, fmt.Errorf("filled %d messages: %w", len(o.taken), err)
	}
	s := &server{process: p.process, web: p.web, name: p.name}
	s.calls, err = p.reads(ctx, boxes)
	return s, err
}

// filled makes mailboxes and sends them messages, which it verifies.
func (g *gonebox) filled(ctx context.Context, boxes, messages int) ([]mailbox, error) {
	all, err := g.newBoxes(ctx, 0, boxes)
	if err != nil {
		return nil, err
	}
	crowd := newSenders(small(), boxes)
	o, err := load{addrs: []string{g.smtp}, boxes: all, reuse: true, length: time.Minute, most: messages, fixed: true}.run(ctx, crowd)
	if err != nil {
		return nil, err
	}
	if len(o.taken) != boxes*messages {
		return nil, fmt.Errorf("filled %d of %d messages within a minute", len(o.taken), boxes*messages)
	}
	_, err = g.verify(ctx, all, o.taken)
	return all, err
}

// calls prepares the requests: the newest messages are there already, so no answer changes while it is measured.
func (g *gonebox) calls(ctx context.Context, boxes []mailbox) ([]call, error) {
	calls := []call{{name: listCall}, {name: messageCall}, {name: "latest code"}}
	c, err := dial(ctx, g.web)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	for _, box := range boxes {
		var page struct{ Data []summary }
		if err := c.call(200, "GET", "/mailboxes/me/messages", box.Token, "", &page); err != nil {
			return nil, err
		}
		if len(page.Data) != callsHeld {
			return nil, fmt.Errorf("%s lists %d messages", box.Address, len(page.Data))
		}
		add := func(i int, path string) {
			calls[i].requests = append(calls[i].requests, request("GET", base+path, box.Token, ""))
		}
		add(0, "/mailboxes/me/messages?limit=20")
		for _, m := range page.Data {
			add(1, "/messages/"+m.ID)
		}
		add(2, "/mailboxes/me/otp/latest")
	}
	for i := range calls {
		if status, err := c.do(calls[i].requests[0]); err != nil || status != 200 {
			return nil, fmt.Errorf("%s: status %d: %w", calls[i].name, status, err)
		}
		calls[i].octets = len(c.body)
	}
	return calls, nil
}

// slice makes one kind of call for a while from all clients.
func (k *call) slice(ctx context.Context, g server, length time.Duration, counts bool) error {
	gauge, err := startGauge(g.database, g.process)
	if err != nil {
		return err
	}
	made, octets := make([]int, callers), make([]int, callers)
	begun := time.Now()
	err = together(ctx, callers, g.web, func(c *caller, worker, _ int) error {
		for i := worker * len(k.requests) / callers; ctx.Err() == nil && time.Since(begun) < length; i++ {
			status, err := c.do(k.requests[i%len(k.requests)])
			if err != nil || status != cmp.Or(k.status, 200) {
				return fmt.Errorf("%s: status %d: %w", k.name, status, err)
			}
			made[worker]++
			octets[worker] = len(c.body)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	elapsed := time.Since(begun)
	used, err := gauge.read()
	if err != nil || !counts {
		return err
	}
	sum := 0
	for _, n := range made {
		sum += n
	}
	k.octets = octets[0]
	k.rate = append(k.rate, float64(sum)/elapsed.Seconds())
	k.cpu = append(k.cpu, (used.server+used.database).Seconds()*1000/float64(sum))
	return nil
}

func (r *report) calls(all []*server, rounds int, length time.Duration) {
	r.say("\nCALLS: %d clients with a connection each, mailboxes with %d messages of 4 KiB, %d rounds of %s a call", callers, callsHeld, rounds, length)
	r.say("%s sends as many octets from memory, and checks and reads nothing. %s lists the newest mail of all mailboxes, %s a mailbox of 20.", all[1].name, mailpit, inbucket)
	rows := [][]string{{"call", "server", "octets", "a second", "server's CPU seconds per 1,000", "gonebox of it by rate", "by CPU time"}}
	for _, our := range all[0].calls {
		var bars []bar
		for _, s := range all {
			k := s.named(our.name)
			if k == nil {
				continue
			}
			bars = append(bars, bar{s.name, 1000 / k.cpu.median()})
			rows = append(rows, []string{
				k.name, s.name, strconv.Itoa(k.octets), k.rate.spread("%.0f"), k.cpu.spread("%.3f"),
				our.rate.over(k.rate).spread("%.2f"), k.cpu.over(our.cpu).spread("%.2f"),
			})
		}
		r.bars("Calls for each second of the server's processor time", our.name, bars)
	}
	r.table(rows)
	for _, t := range []struct {
		call, of string
		want     float64
	}{{listCall, all[1].name, 0.3}, {listCall, mailpit, 10}, {messageCall, mailpit, 4}, {messageCall, inbucket, 4}} {
		for _, s := range all {
			if k := s.named(t.call); k != nil && s.name == t.of {
				r.target(t.call+", of "+t.of+" by CPU time", k.cpu.over(all[0].named(t.call).cpu).median(), t.want, false, "")
			}
		}
	}
}
