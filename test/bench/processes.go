package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// processesMax is the largest number of processes on one PostgreSQL that are compared.
const processesMax = 3

func processes(n int) string { return fmt.Sprint(n, " of them") }

// processesPart sends the same mails to one, two and three processes on one PostgreSQL each.
func processesPart(ctx context.Context, b *bench) (err error) {
	rounds, length := b.rounds(5)
	server, err := dbtest.Start(dbtest.Seasoned()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := server.Season(ctx); err != nil {
		return err
	}
	var all []*contestant
	for n := 1; n <= processesMax; n++ {
		c, err := b.openStorage(ctx, server, processes(n))
		if err != nil {
			return err
		}
		defer c.gonebox.stop()
		for len(c.more) < n-1 {
			g, err := b.startGonebox(ctx, b.dataDir(), c.settings)
			if err != nil {
				return err
			}
			defer g.stop()
			c.more = append(c.more, g)
		}
		all = append(all, c)
	}
	cases, err := b.compare(ctx, "processes", all, rounds, length)
	if err != nil {
		return err
	}
	b.report.processes(cases, rounds, length)
	return nil
}

func (r *report) processes(cases []*mailCase, rounds int, length time.Duration) {
	r.say("\nPROCESSES: processes on one PostgreSQL, %d senders in all, %d rounds of %s a service and case", senders, rounds, length)
	cost := [][]string{{"CPU seconds per 1,000 mails, service + database"}}
	ratios := [][]string{{"of one process, by CPU time of service and database"}}
	rates := [][]string{{"mails a second"}}
	for n := 1; n <= processesMax; n++ {
		cost[0], ratios[0], rates[0] = append(cost[0], processes(n)), append(ratios[0], processes(n)), append(rates[0], processes(n))
	}
	for _, m := range cases {
		spent, ratio, rate := []string{m.name()}, []string{m.name()}, []string{m.name()}
		for n := 1; n <= processesMax; n++ {
			c := m.cell(processes(n))
			spent, rate = append(spent, c.spent()), append(rate, c.rate.spread("%.0f"))
			ratio = append(ratio, c.cpu.plus(c.database).over(m.cell(processes(1)).cpu.plus(m.cell(processes(1)).database)).spread("%.2f"))
		}
		cost, ratios, rates = append(cost, spent), append(ratios, ratio), append(rates, rate)
	}
	r.table(rates)
	r.table(cost)
	r.table(ratios)
	r.say("  Mailboxes are created in the first process; senders are spread among all. After each slice every mailbox held exactly the mails answered 250.")
}
