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
	server       *dbtest.Server // nil: the database is a part of the service
	boxes        []mailbox
	taken, coded int
}

// postgresPart sends the same mails to three services that differ in where and how they store them.
func postgresPart(ctx context.Context, b *bench) (err error) {
	rounds, length := 5, 1250*time.Millisecond
	if b.quick {
		rounds, length = 3, 700*time.Millisecond
	}
	server, err := startServer(ctx)
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

// startServer starts a PostgreSQL as an operator has it who has read docs/operating.md.
func startServer(ctx context.Context) (*dbtest.Server, error) {
	server, err := dbtest.Start(dbtest.Seasoned()...)
	if err != nil {
		return nil, err
	}
	if err := server.Season(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return server, nil
}

func (b *bench) openKeepers(ctx context.Context, server *dbtest.Server) (all []*keeper, err error) {
	for _, how := range []string{onSQLite, onPostgres, onPostgresTx} {
		k, err := b.openKeeper(ctx, server, how)
		if err != nil {
			return all, err
		}
		all = append(all, k)
	}
	return all, nil
}

// openKeeper starts a service that keeps its mail in one of the ways, and makes the mailboxes.
func (b *bench) openKeeper(ctx context.Context, server *dbtest.Server, how string) (*keeper, error) {
	k, own, dir := &keeper{}, map[string]string{}, b.dataDir()
	if how != onSQLite {
		database := fmt.Sprint("bench_", b.folders)
		if err := server.Create(ctx, database); err != nil {
			return nil, err
		}
		k.server = server
		own["database.url"], own["secrets.key"] = server.URL(database), strings.Repeat("bench-only-", 4)
	}
	if how == onPostgresTx {
		own["smtp.set_max"] = "1"
	}
	g, err := b.startGonebox(ctx, dir, own)
	if err != nil {
		return nil, err
	}
	k.contestant, k.gonebox = contestant{how, g.smtp, g.process}, g
	if k.boxes, err = g.newBoxes(ctx, 0, boxCount); err != nil {
		g.stop()
		return nil, err
	}
	return k, nil
}

// slice lets one of them take mail, and looks afterwards whether it has it all.
func (k *keeper) slice(ctx context.Context, m *mailCase, length time.Duration, counts bool) error {
	o, used, err := k.spend(ctx, m, length)
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

// spend lets one of them take mail, and tells what it cost.
func (k *keeper) spend(ctx context.Context, m *mailCase, length time.Duration) (o outcome, used usage, err error) {
	g, err := startGauge(k.contestant.process)
	if err != nil {
		return o, used, err
	}
	before, err := k.databaseCPU()
	if err != nil {
		return o, used, err
	}
	if o, err = (load{addr: k.addr, boxes: k.boxes, reuse: m.reuse, length: length}).run(ctx, m.crowd); err != nil {
		return o, used, err
	}
	time.Sleep(100 * time.Millisecond) // what is done after the replies counts, too
	if used, err = g.read(); err != nil {
		return o, used, err
	}
	after, err := k.databaseCPU()
	used.database = after - before
	return o, used, err
}

// databaseCPU is the CPU time that the database server has used, where there is one.
func (k *keeper) databaseCPU() (time.Duration, error) {
	if k.server == nil {
		return 0, nil
	}
	return k.server.CPU()
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
	r.postgresCPU(cases)
	for _, m := range cases {
		r.target(m.name()+", of a transaction a mail", m.cell(onPostgres).rate.over(m.cell(onPostgresTx).rate).median(), 2, false, "")
	}
	var taken, coded []string
	for _, k := range keepers {
		taken = append(taken, fmt.Sprint(k.taken))
		coded = append(coded, fmt.Sprintf("%.1f %%", 100*float64(k.coded)/float64(max(k.taken, 1))))
	}
	r.say("  The same binary three times; PostgreSQL on this machine over a socket, fsync on, with segments of its log to use again, and on the same processors. In sets: the mails that")
	r.say("    wait share a transaction, and a statement a table; else each mail has a plain transaction, beside the others'. After each slice every mailbox held exactly the mails answered 250: %s; code found in %s.",
		strings.Join(taken, ", "), strings.Join(coded, ", "))
}

// postgresCPU tells what the ways cost, which holds on a machine that others use too.
func (r *report) postgresCPU(cases []*mailCase) {
	rows := [][]string{{"CPU seconds per 1,000 mails, service + database", onSQLite, onPostgres, onPostgresTx, "by CPU time, with the generator's"}}
	for _, m := range cases {
		sets, each := m.cell(onPostgres), m.cell(onPostgresTx)
		rows = append(rows, []string{
			m.name(), m.cell(onSQLite).cpu.spread("%.3f"), sets.spent(), each.spent(), each.both.over(sets.both).spread("%.2f"),
		})
	}
	r.table(rows)
}

// spent is what a mail cost the service, and the database beside it.
func (c *cell) spent() string {
	return fmt.Sprintf("%.3f + %.3f", c.cpu.median(), c.database.median())
}

// with is settings with some of one's own over them.
func with(settings map[string]string, own []map[string]string) map[string]string {
	for _, more := range own {
		maps.Copy(settings, more)
	}
	return settings
}
