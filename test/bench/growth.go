package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// perBox is how many messages each mailbox holds.
const perBox = 5

// expiring is the digit below which the last of a mailbox's number is if the mailbox expires: a fifth of them.
const expiring = "2"

// called is how many mailboxes the calls go to at most, so that the requests fit into memory.
const called = 50_000

// stock is a service that holds a number of messages.
type stock struct {
	*gonebox
	messages  int
	dir       string
	settings  map[string]string
	database  *dbtest.Server // nil: SQLite
	settled   time.Duration  // CPU time from the start until it was at rest
	boxes     []mailbox      // those that mail and calls go to, in random order
	calls     []call
	mails     series
	mailCPU   series
	duringOne series // mails a second while others are being erased
	duringCPU series
}

func growthPart(ctx context.Context, b *bench) error {
	rounds, length := 6, 2*time.Second
	if b.quick {
		rounds, length = 3, 700*time.Millisecond
	}
	var stocks [2]*stock
	for i, n := range []int{1000, b.stock} {
		s := &stock{messages: n, dir: b.dataDir(), settings: map[string]string{"mailbox.erase_every": "1s"}}
		stocks[i] = s
		defer s.close()
		if err := s.prepare(ctx, b); err != nil {
			return err
		}
	}
	crowd := newSenders(small(), senders)
	for round := range rounds + 1 {
		b.report.note("growth: round %d of %d", round, rounds)
		for i := range stocks[0].calls {
			if err := inTurns(stocks, round, func(s *stock) error {
				return s.calls[i].slice(ctx, server{process: s.process, web: s.web, database: s.database}, length, round > 0)
			}); err != nil {
				return err
			}
		}
		if err := inTurns(stocks, round, func(s *stock) error { return s.takeMail(ctx, crowd, length, round > 0, &s.mails, &s.mailCPU) }); err != nil {
			return err
		}
	}
	b.report.growth(stocks, rounds, length, b.postgres)
	return b.expiry(ctx, stocks, crowd, length)
}

// inTurns has two services do something, each while the other stands still.
func inTurns(stocks [2]*stock, round int, do func(*stock) error) error {
	for turn := range stocks {
		s, other := stocks[(turn+round)%2], stocks[(turn+round+1)%2]
		other.freeze(true)
		err := do(s)
		other.freeze(false)
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare starts a service and fills it.
func (s *stock) prepare(ctx context.Context, b *bench) (err error) {
	if s.database, err = b.startDatabase(ctx, s.settings); err != nil {
		return err
	}
	if s.gonebox, err = b.startGonebox(ctx, s.dir, s.settings); err != nil {
		return err
	}
	begun := time.Now()
	b.report.note("growth: create %d mailboxes", s.messages/perBox)
	if s.boxes, err = s.newBoxes(ctx, 0, s.messages/perBox); err != nil {
		return err
	}
	first := s.boxes[0]
	o, err := load{addrs: []string{s.smtp}, boxes: s.boxes[:1], reuse: true, length: patience, most: perBox}.run(ctx, newSenders(small(), 1))
	if err != nil || len(o.taken) != perBox {
		return fmt.Errorf("%d mails for the first mailbox: %w", len(o.taken), err)
	}
	b.report.note("growth: created in %s", time.Since(begun).Round(time.Second))
	s.stop()
	store, err := openStore(s.dir, s.database, true)
	if err != nil {
		return err
	}
	if err := errors.Join(copyMessages(ctx, store, first.Address, s.database != nil, b.report.note), store.Close()); err != nil {
		return err
	}
	b.report.note("growth: %d messages stored after %s", s.messages, time.Since(begun).Round(time.Second))
	if s.gonebox, err = b.startGonebox(ctx, s.dir, s.settings); err != nil {
		return err
	}
	begun = time.Now()
	if s.settled, err = s.settle(ctx); err != nil {
		return err
	}
	b.report.note("growth: at rest %s after the start", time.Since(begun).Round(time.Second))
	s.boxes = slices.DeleteFunc(s.boxes, func(m mailbox) bool { return m.Address[len("box-000000")] < expiring[0] })
	rand.Shuffle(len(s.boxes), func(i, j int) { s.boxes[i], s.boxes[j] = s.boxes[j], s.boxes[i] })
	s.calls = []call{{name: "list of the messages"}, {name: "latest code"}, {name: "create", status: 201}}
	for _, box := range s.boxes[:min(called, len(s.boxes))] {
		for call, path := range []string{"/mailboxes/me/messages?limit=5", "/mailboxes/me/otp/latest"} {
			s.calls[call].requests = append(s.calls[call].requests, request("GET", base+path, box.Token, ""))
		}
	}
	s.calls[2].requests = [][]byte{request("POST", base+"/mailboxes", "", "{}")}
	return nil
}

// settle waits until the service has done what it does after a start: on SQLite it looks through the whole file for remains of deleted
// rows, and begins within ten seconds. It returns what the service has used of CPU time, which it uses least of all when it is at rest.
func (s *stock) settle(ctx context.Context) (last time.Duration, err error) {
	const look, rest, looks = 2 * time.Second, 100 * time.Millisecond, 8
	for quiet := 0; quiet < looks && err == nil; {
		time.Sleep(look)
		var now time.Duration
		if now, err = s.cpu(); now-last > rest {
			quiet = 0
		}
		quiet++
		last = now
		err = errors.Join(err, ctx.Err())
	}
	return last, err
}

func (s *stock) freeze(still bool) {
	signal := syscall.SIGCONT
	if still {
		signal = syscall.SIGSTOP
	}
	_ = s.cmd.Process.Signal(signal) // fails if it has ended, which the next call finds
}

func (s *stock) close() {
	if s.gonebox != nil {
		s.stop()
	}
	if s.database != nil {
		_ = s.database.Close() // its folder is removed in any case
	}
}

// expiry lets a fifth of the mailboxes expire and sends mail to the others while these are erased.
func (b *bench) expiry(ctx context.Context, stocks [2]*stock, crowd []*sender, length time.Duration) error {
	few, many := stocks[0], stocks[1]
	store, err := openStore(many.dir, many.database, false)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := expireSome(ctx, store, expiring); err != nil {
		return err
	}
	first, err := expired(ctx, store)
	left, begun, erasing := first, time.Now(), time.Duration(0)
	for round := 0; err == nil && left > first/50 && round < 60; round++ {
		b.report.note("growth: %d of %d mailboxes to erase", left, first)
		err = inTurns(stocks, round, func(s *stock) error {
			begun := time.Now()
			err := s.takeMail(ctx, crowd, length, true, &s.duringOne, &s.duringCPU)
			if s == many {
				erasing += time.Since(begun)
			}
			return err
		})
		if err == nil {
			left, err = expired(ctx, store)
		}
	}
	if err != nil {
		return err
	}
	b.report.note("growth: %s for the expiry", time.Since(begun).Round(time.Second))
	b.report.expiry(few, many, first, first-left, erasing)
	return nil
}

func (s *stock) takeMail(ctx context.Context, crowd []*sender, length time.Duration, counts bool, rate, cpu *series) error {
	gauge, err := startGauge(s.database, s.process)
	if err != nil {
		return err
	}
	o, err := load{addrs: []string{s.smtp}, boxes: s.boxes, reuse: true, length: length}.run(ctx, crowd)
	if err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // see slice of the mail part
	used, err := gauge.read()
	if err != nil || !counts {
		return err
	}
	*rate = append(*rate, o.rate())
	*cpu = append(*cpu, (used.server+used.database).Seconds()*1000/float64(len(o.taken)))
	return nil
}

func (r *report) growth(s [2]*stock, rounds int, length time.Duration, postgres bool) {
	few, many := s[0], s[1]
	engine := onSQLite
	if postgres {
		engine = onPostgres
	}
	r.say("\nGROWTH: two services on %s, in turns, with %d and with %d messages of 4 KiB stored, %d in each mailbox; %d rounds of %s", engine, few.messages, many.messages, perBox, rounds, length)
	ratios := [][]string{
		{"many against few", "rate", "CPU time"},
		{"mails, any mailbox", many.mails.over(few.mails).spread("%.2f"), many.mailCPU.over(few.mailCPU).spread("%.2f")},
	}
	r.target("mails with many, of the rate with few", many.mails.over(few.mails).median(), 0.8, false, "")
	heading := []string{"", "mails a second"}
	for i, c := range many.calls {
		ratios = append(ratios, []string{c.name + ", any mailbox", c.rate.over(few.calls[i].rate).spread("%.2f"), c.cpu.over(few.calls[i].cpu).spread("%.2f")})
		heading = append(heading, c.name+", a second")
	}
	r.table(ratios)
	rows := [][]string{heading}
	for _, one := range s {
		row := []string{fmt.Sprintf("%d stored", one.messages), one.mails.spread("%.0f")}
		for _, c := range one.calls {
			row = append(row, c.rate.spread("%.0f"))
		}
		rows = append(rows, row)
	}
	r.table(rows)
	r.say("  CPU time from the start until the service was at rest: %s with few, %s with many", few.settled, many.settled)
}

// expiry reports what erasing costs the mail that comes in meanwhile. Beside the service without erasing stands the one with few
// messages, so that what else the machine does concerns both alike.
func (r *report) expiry(few, many *stock, boxes, erased int, erasing time.Duration) {
	before, during := many.mails.over(few.mails), many.duringOne.over(few.duringOne)
	r.say("\nEXPIRY: %d mailboxes with %d messages expired at once, while mail came to the others; %d rounds", boxes, boxes*perBox, len(during))
	r.table([][]string{
		{"many against few", "rate", "CPU time"},
		{"mails before", before.spread("%.2f"), many.mailCPU.over(few.mailCPU).spread("%.2f")},
		{"mails, others being erased", during.spread("%.2f"), many.duringCPU.over(few.duringCPU).spread("%.2f")},
	})
	r.say("  erased %.0f messages a second under this load", float64(erased*perBox)/erasing.Seconds())
	r.target("cost of erasing to the mail rate", 1-during.median()/before.median(), 0.15, true, "")
}
