package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// A mail of the filling goes to fanOut mailboxes, few enough that each gets a copy of its text, and each mailbox gets perBox of them.
const (
	fanOut = 4
	perBox = 5
)

// stride is prime to every number of mailboxes that is used here.
const stride = 7919

// stock is a service that holds a number of messages.
type stock struct {
	*gonebox
	messages int
	boxes    []mailbox
	calls    []call
	mails    series
	mailCPU  series
}

func growthPart(ctx context.Context, b *bench) error {
	rounds, length, many := 6, 2*time.Second, 500_000
	if b.quick {
		rounds, length, many = 3, 700*time.Millisecond, 20_000
	}
	var stocks [2]*stock
	for i, n := range []int{1000, many} {
		s, err := b.newStock(ctx, n)
		if err != nil {
			return err
		}
		defer s.stop()
		stocks[i] = s
	}
	crowd := newSenders(small(), senders)
	for round := range rounds + 1 {
		b.report.note("growth: round %d of %d", round, rounds)
		for i := range stocks[0].calls {
			for turn := range stocks {
				s := stocks[(turn+round)%len(stocks)]
				if err := s.calls[i].slice(ctx, server{process: s.process, web: s.web}, length, round > 0); err != nil {
					return err
				}
			}
		}
		for turn := range stocks {
			if err := stocks[(turn+round)%len(stocks)].takeMail(ctx, crowd, length, round > 0); err != nil {
				return err
			}
		}
	}
	b.report.growth(stocks, rounds, length)
	return nil
}

// newStock starts a service and fills it over SMTP.
func (b *bench) newStock(ctx context.Context, messages int) (*stock, error) {
	g, err := b.startGonebox(ctx, b.dataDir(), nil)
	if err != nil {
		return nil, err
	}
	b.report.note("growth: store %d messages", messages)
	s := &stock{gonebox: g, messages: messages}
	begun := time.Now()
	if s.boxes, err = g.newBoxes(ctx, 0, messages/perBox); err == nil {
		err = s.fill(ctx)
	}
	if err != nil {
		g.stop()
		return nil, err
	}
	b.report.note("growth: stored in %s", time.Since(begun).Round(time.Second))
	s.calls = []call{{name: "list of the messages"}, {name: "latest code"}, {name: "create", status: 201}}
	for i := range s.boxes { // in an order in which neighbours are not stored side by side
		box := s.boxes[i*stride%len(s.boxes)]
		for call, path := range []string{"/mailboxes/me/messages?limit=5", "/mailboxes/me/otp/latest"} {
			s.calls[call].requests = append(s.calls[call].requests, request("GET", base+path, box.Token, ""))
		}
	}
	s.calls[2].requests = [][]byte{request("POST", base+"/mailboxes", "", "{}")}
	return s, nil
}

// fill sends each block of mailboxes its mails, one mail to the whole block: stored once for each, which is what counts here.
func (s *stock) fill(ctx context.Context) error {
	const workers = 8
	errs := make(chan error, workers)
	blocks := make(chan []mailbox)
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, sender := range newSenders(small(), workers) {
		group.Go(func() {
			if err := s.fillBlocks(ctx, sender, blocks); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	for left := s.boxes; len(left) > 0; {
		block := left[:min(fanOut, len(left))]
		left = left[len(block):]
		select {
		case blocks <- block:
		case <-ctx.Done():
			left = nil
		}
	}
	close(blocks)
	group.Wait()
	close(errs)
	return <-errs // nil when all went well
}

func (s *stock) fillBlocks(ctx context.Context, sender *sender, blocks <-chan []mailbox) error {
	c, err := connect(ctx, s.smtp, sender.helo, sender.in)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for block := range blocks {
		commands := newStamped(manyRecipients(sender.commands.text, block))
		for range perBox {
			if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
				return err
			}
			mail := sender.mails[sender.serial%len(sender.mails)].stamp(codeOf(sender.serial), sender.serial, block[0].Address)
			if err := c.send(commands.text, len(block), mail, false); err != nil {
				return fmt.Errorf("fill: %w", err)
			}
			sender.serial++
		}
	}
	return ctx.Err()
}

// manyRecipients replaces the one RCPT of a sender's commands.
func manyRecipients(commands []byte, block []mailbox) []byte {
	mail, _, _ := strings.Cut(string(commands), "RCPT")
	var b strings.Builder
	b.WriteString(mail)
	for _, box := range block {
		fmt.Fprintf(&b, "RCPT TO:<%s>\r\n", box.Address)
	}
	b.WriteString("DATA\r\n")
	return []byte(b.String())
}

func (s *stock) takeMail(ctx context.Context, crowd []*sender, length time.Duration, counts bool) error {
	gauge, err := startGauge(nil, s.process)
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
	s.mails = append(s.mails, o.rate())
	s.mailCPU = append(s.mailCPU, used.server.Seconds()*1000/float64(len(o.taken)))
	return nil
}

func (r *report) growth(s [2]*stock, rounds int, length time.Duration) {
	few, many := s[0], s[1]
	r.say("\nGROWTH: two services side by side, with %d and with %d messages of 4 KiB stored, %d in each mailbox; %d rounds of %s", few.messages, many.messages, perBox, rounds, length)
	ratios := [][]string{
		{"many against few", "rate", "CPU time"},
		{"mails, any mailbox", many.mails.over(few.mails).spread("%.2f"), many.mailCPU.over(few.mailCPU).spread("%.2f")},
	}
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
}
