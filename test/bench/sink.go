package main

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"
)

// searchTarget is what a search in sinkMails mails may take at most, in milliseconds.
const (
	sinkMails    = 100_000
	searchTarget = 50
)

// sinkPart measures what injecting a mail costs, mail to the sink beside mail to mailboxes, and a search in the mail of the sink.
func sinkPart(ctx context.Context, b *bench) error {
	mails, some, tries := sinkMails, 5_000, 20
	if b.quick {
		mails, some, tries = 10_000, 1_000, 5
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	g, err := b.startGonebox(ctx, b.dataDir(), map[string]string{"profile": "dev", "compat.mailpit.addr": ports[0]})
	if err != nil {
		return err
	}
	defer g.stop()
	boxes, err := g.newBoxes(ctx, 0, some)
	if err != nil {
		return err
	}
	b.report.note("sink: %d mails to mailboxes, to new and known addresses of the sink, and injected", some)
	sinkName := func(i int) string { return fmt.Sprintf("user%05d@company.test", i%some) }
	rows := [][]string{{"mails of 400 octets, 32 at a time", "mails/s"}}
	for _, flow := range []struct {
		what string
		send func() (time.Duration, error)
	}{
		{"to mailboxes", func() (time.Duration, error) {
			return flood(ctx, g.smtp, 0, some, func(i int) string { return boxes[i].Address })
		}},
		{"to new addresses of the sink", func() (time.Duration, error) { return flood(ctx, g.smtp, 0, some, sinkName) }},
		{"to known addresses of the sink", func() (time.Duration, error) { return flood(ctx, g.smtp, some, some, sinkName) }},
		{"injected", func() (time.Duration, error) { return g.inject(ctx, boxes) }},
	} {
		took, err := flow.send()
		if err != nil {
			return fmt.Errorf("%s: %w", flow.what, err)
		}
		rows = append(rows, []string{flow.what, fmt.Sprintf("%.0f", float64(some)/took.Seconds())})
	}
	b.report.say("\nThe sink and injection.")
	b.report.table(rows)
	b.report.note("sink: fill up to %d mails", mails)
	if _, err := flood(ctx, g.smtp, 2*some, mails-2*some, sinkName); err != nil {
		return err
	}
	return b.searches(ctx, ports[0], mails, tries)
}

// searches measures searches over the Mailpit API.
func (b *bench) searches(ctx context.Context, addr string, mails, tries int) error {
	c, err := dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	rows, worst := [][]string{{fmt.Sprintf("search in %d mails", mails), "median ms"}}, 0.0
	for _, query := range []string{`to:"user00123@company.test"`, `subject:"code 7777 "`, "nothing-like-this", "ignore this mail", "from:app to:user -subject:welcome"} {
		var took []time.Duration
		for range tries {
			begun := time.Now()
			status, err := c.do([]byte("GET /api/v1/search?query=" + url.QueryEscape(query) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
			if err != nil || status != 200 {
				return fmt.Errorf("search %s: status %d: %w", query, status, err)
			}
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		median := float64(took[len(took)/2].Microseconds()) / 1000
		worst = max(worst, median)
		rows = append(rows, []string{query, fmt.Sprintf("%.1f", median)})
	}
	b.report.table(rows)
	if mails == sinkMails {
		b.report.target("the slowest search takes", worst, searchTarget, true, " ms")
	}
	return nil
}

// flood sends n mails, numbered from first, over 32 connections.
func flood(ctx context.Context, addr string, first, n int, to func(int) string) (time.Duration, error) {
	const workers = 32
	begun := time.Now()
	failed := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { failed[w] = floodOne(ctx, addr, first+w, first+n, workers, to) })
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}

func floodOne(ctx context.Context, addr string, from, end, step int, to func(int) string) error {
	c, err := connect(ctx, addr, "bench", bufio.NewReader(nil))
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for i := from; i < end; i += step {
		if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		commands := fmt.Appendf(nil, "MAIL FROM:<app@company.test>\r\nRCPT TO:<%s>\r\nDATA\r\n", to(i))
		content := fmt.Appendf(nil, "From: The App <app@company.test>\r\nTo: %s\r\nSubject: Your code %d for today\r\nMessage-ID: <%d@company.test>\r\n\r\n"+
			"Your sign-in code is %06d. It is valid for ten minutes.\r\nIf you have not asked for it, ignore this mail or tell us at https://company.test/help.\r\n.\r\n", to(i), i, i, i%1_000_000)
		if err := c.send(commands, 1, content, false); err != nil {
			return err
		}
	}
	return nil
}

// inject puts a mail into each mailbox over the API.
func (g *gonebox) inject(ctx context.Context, boxes []mailbox) (time.Duration, error) {
	begun := time.Now()
	err := together(ctx, 32, g.web, func(c *caller, worker, workers int) error {
		for i := worker; i < len(boxes); i += workers {
			body := fmt.Sprintf(`{"from": "app@company.test", "subject": "Your code %d", "text": "Your sign-in code is %06d."}`, i, i)
			if err := c.call(201, "POST", "/mailboxes/me/messages", boxes[i].Token, body, &struct{}{}); err != nil {
				return err
			}
		}
		return nil
	})
	return time.Since(begun), err
}
