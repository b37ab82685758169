package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"
)

const (
	callers    = 16 // clients that call at the same time, each on a connection that is kept
	callsHeld  = 50 // messages in each mailbox that is read
	callsBoxes = 16
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
	web string
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
	bare := make([]call, len(calls))
	for i, c := range calls {
		bare[i].name = "net/http"
		bare[i].requests = [][]byte{request("GET", fmt.Sprintf("/octets/%d", c.octets), "", "")}
	}
	for round := range rounds + 1 {
		b.report.note("calls: round %d of %d", round, rounds)
		for i := range calls {
			if err := calls[i].slice(ctx, server{g.process, g.web}, length, round > 0); err != nil {
				return err
			}
			if err := bare[i].slice(ctx, server{p, addr}, length, round > 0); err != nil {
				return err
			}
		}
	}
	b.report.calls(calls, bare, rounds, length)
	return nil
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
	calls := []call{{name: "list of 20"}, {name: "one message"}, {name: "latest code"}}
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
	gauge, err := startGauge(nil, g.process)
	if err != nil {
		return err
	}
	made := make([]int, callers)
	begun := time.Now()
	err = together(ctx, callers, g.web, func(c *caller, worker, _ int) error {
		for i := worker * len(k.requests) / callers; ctx.Err() == nil && time.Since(begun) < length; i++ {
			status, err := c.do(k.requests[i%len(k.requests)])
			if err != nil || status != cmp.Or(k.status, 200) {
				return fmt.Errorf("%s: status %d: %w", k.name, status, err)
			}
			made[worker]++
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
	k.rate = append(k.rate, float64(sum)/elapsed.Seconds())
	k.cpu = append(k.cpu, used.server.Seconds()*1000/float64(sum))
	return nil
}

func (r *report) calls(calls, bare []call, rounds int, length time.Duration) {
	r.say("\nCALLS: %d clients with a connection each, mailboxes with %d messages of 4 KiB, %d rounds of %s a call", callers, callsHeld, rounds, length)
	r.say("Beside each stands a server of package net/http that sends as many octets from memory, and checks and reads nothing.")
	rows := [][]string{{"call", "octets", "a second", "server's CPU seconds per 1,000", "net/http a second", "its CPU seconds", "of net/http by rate", "by CPU time"}}
	for i, k := range calls {
		r.bar("Calls for each second of the server's processor time", k.name, "net/http, from memory", 1000/k.cpu.median(), 1000/bare[i].cpu.median())
		rows = append(rows, []string{
			k.name, strconv.Itoa(k.octets), k.rate.spread("%.0f"), k.cpu.spread("%.3f"), bare[i].rate.spread("%.0f"), bare[i].cpu.spread("%.3f"),
			k.rate.over(bare[i].rate).spread("%.2f"), bare[i].cpu.over(k.cpu).spread("%.2f"),
		})
	}
	r.table(rows)
}
