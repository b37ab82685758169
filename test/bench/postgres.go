package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// The ways in which mail is stored that this part compares.
const (
	onSQLite     = "SQLite"
	onPostgres   = "PostgreSQL"
	onPostgresTx = "PostgreSQL, a transaction a mail"
)

// keeper is a service that keeps its mail in one of these ways.
type keeper struct {
	contestant
	*gonebox
	boxes        []mailbox
	taken, coded int
}

// postgresPart sends the same mails to three services that differ in where and how they store them.
func postgresPart(ctx context.Context, b *bench) (err error) {
	rounds, length := 5, 1250*time.Millisecond
	if b.quick {
		rounds, length = 3, 700*time.Millisecond
	}
	server, err := dbtest.Start("fsync=on") // a server as an operator has it: what it has committed is on the disk
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	keepers, err := b.openKeepers(ctx, server)
	defer func() {
		for _, k := range keepers {
			k.gonebox.stop()
		}
	}()
	if err != nil {
		return err
	}
	cases := mailCases()
	for round := range rounds + 1 {
		b.report.note("postgres: round %d of %d", round, rounds)
		for _, m := range cases {
			for turn := range keepers {
				k := keepers[(turn+round)%len(keepers)]
				if err := k.slice(ctx, m, length, round > 0); err != nil {
					return fmt.Errorf("%s, %s: %w", k.name, m.name(), err)
				}
			}
		}
	}
	b.report.postgres(keepers, cases, rounds, length)
	return nil
}

func (b *bench) openKeepers(ctx context.Context, server *dbtest.Server) (all []*keeper, err error) {
	for i, name := range []string{onSQLite, onPostgres, onPostgresTx} {
		own := map[string]string{}
		if name != onSQLite {
			database := fmt.Sprint("bench_", i)
			if err := server.Create(ctx, database); err != nil {
				return all, err
			}
			own["database.url"], own["secrets.key"] = server.URL(database), strings.Repeat("bench-only-", 4)
		}
		if name == onPostgresTx {
			own["smtp.set_max"] = "1"
		}
		g, err := b.startGonebox(ctx, b.dataDir(), own)
		if err != nil {
			return all, err
		}
		k := &keeper{contestant: contestant{name, g.smtp, g.process}, gonebox: g}
		all = append(all, k)
		if k.boxes, err = g.newBoxes(ctx, 0, boxCount); err != nil {
			return all, err
		}
	}
	return all, nil
}

// slice lets one of them take mail, and looks afterwards whether it has it all.
func (k *keeper) slice(ctx context.Context, m *mailCase, length time.Duration, counts bool) error {
	g, err := startGauge(k.contestant.process)
	if err != nil {
		return err
	}
	o, err := load{addr: k.addr, boxes: k.boxes, reuse: m.reuse, length: length}.run(ctx, m.crowd)
	if err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	used, err := g.read()
	if err != nil {
		return err
	}
	if counts {
		m.cell(k.name).add(o, used)
	}
	coded, err := k.verify(ctx, k.boxes, o.taken)
	k.taken, k.coded = k.taken+len(o.taken), k.coded+coded
	return err
}

func (r *report) postgres(keepers []*keeper, cases []*mailCase, rounds int, length time.Duration) {
	r.say("\nPOSTGRES: %d senders, %d rounds of %s a service and case", senders, rounds, length)
	rates := [][]string{{"mails a second", onSQLite, onPostgres, onPostgresTx, "sets / a transaction a mail"}}
	for _, m := range cases {
		lite, sets, each := m.cell(onSQLite), m.cell(onPostgres), m.cell(onPostgresTx)
		rates = append(rates, []string{
			m.name(), lite.rate.spread("%.0f"), sets.rate.spread("%.0f"), each.rate.spread("%.0f"), sets.rate.over(each.rate).spread("%.2f"),
		})
	}
	r.table(rates)
	for _, m := range cases {
		r.target(m.name()+", of a transaction a mail", m.cell(onPostgres).rate.over(m.cell(onPostgresTx).rate).median(), 2, false, "")
	}
	var taken, coded []string
	for _, k := range keepers {
		taken = append(taken, fmt.Sprint(k.taken))
		coded = append(coded, fmt.Sprintf("%.1f %%", 100*float64(k.coded)/float64(max(k.taken, 1))))
	}
	r.say("  The same binary three times; PostgreSQL on this machine over a socket, fsync on, and with it on the same processors. In sets: the mails that")
	r.say("    wait share a transaction and its statements go out together; else each mail has a plain transaction, beside the others'. After each slice every mailbox held exactly the mails answered 250: %s; code found in %s.",
		strings.Join(taken, ", "), strings.Join(coded, ", "))
}

// with is settings with some of one's own over them.
func with(settings map[string]string, own []map[string]string) map[string]string {
	for _, more := range own {
		maps.Copy(settings, more)
	}
	return settings
}
