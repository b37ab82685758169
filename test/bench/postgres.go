package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// The contestants of the postgres part.
const (
	onSQLite     = "SQLite"
	onPostgres   = "PostgreSQL"
	onPostgresTx = "PostgreSQL, a transaction a mail"
)

// postgresPart sends the same mails to three services that differ in where and how they store them.
func postgresPart(ctx context.Context, b *bench) (err error) {
	rounds, length := b.rounds(5)
	server, err := dbtest.Start(dbtest.Seasoned()...) // with the settings that docs/operating.md recommends
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := server.Season(ctx); err != nil {
		return err
	}
	var all []*contestant
	for _, name := range []string{onSQLite, onPostgres, onPostgresTx} {
		c, err := b.openStorage(ctx, server, name)
		if err != nil {
			return err
		}
		defer c.gonebox.stop()
		all = append(all, c)
	}
	cases, err := b.compare(ctx, "postgres", all, rounds, length)
	if err != nil {
		return err
	}
	b.report.postgres(all, cases, rounds, length)
	return nil
}

// openStorage starts a service with one of the kinds of storage.
func (b *bench) openStorage(ctx context.Context, server *dbtest.Server, name string) (*contestant, error) {
	if name == onSQLite {
		return b.openService(ctx, name, nil, nil)
	}
	database := fmt.Sprint("bench_", b.folders)
	if err := server.Create(ctx, database); err != nil {
		return nil, err
	}
	own := map[string]string{"database.url": server.URL(database), "secrets.key": strings.Repeat("bench-only-", 4)}
	if name == onPostgresTx {
		own["smtp.set_max"] = "1"
	}
	c, err := b.openService(ctx, name, server, own)
	if err == nil {
		c.settings = own
	}
	return c, err
}

// startDatabase starts a PostgreSQL if the run is to use one, with a database, and adds to settings what lets a service use it.
func (b *bench) startDatabase(ctx context.Context, settings map[string]string) (*dbtest.Server, error) {
	if !b.postgres {
		return nil, nil
	}
	server, err := dbtest.Start(dbtest.Seasoned()...)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(server.Season(ctx), server.Create(ctx, "bench")); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	settings["database.url"], settings["secrets.key"] = server.URL("bench"), strings.Repeat("bench-only-", 4)
	return server, nil
}

// folder is where a database server has its data and its socket.
func folder(s *dbtest.Server) string {
	_, query, _ := strings.Cut(s.URL(""), "?host=")
	dir, _, _ := strings.Cut(query, "&")
	return dir
}

func (r *report) postgres(all []*contestant, cases []*mailCase, rounds int, length time.Duration) {
	r.say("\nPOSTGRES: %d senders, %d rounds of %s a service and case", senders, rounds, length)
	rates := [][]string{{"mails a second", onSQLite, onPostgres, onPostgresTx, "batches / a transaction a mail"}}
	cost := [][]string{{"CPU seconds per 1,000 mails, service + database", onSQLite, onPostgres, onPostgresTx, "by CPU time, with the generator's"}}
	for _, m := range cases {
		lite, batches, each := m.cell(onSQLite), m.cell(onPostgres), m.cell(onPostgresTx)
		rates = append(rates, []string{
			m.name(), lite.rate.spread("%.0f"), batches.rate.spread("%.0f"), each.rate.spread("%.0f"), batches.rate.over(each.rate).spread("%.2f"),
		})
		cost = append(cost, []string{m.name(), lite.cpu.spread("%.3f"), batches.spent(), each.spent(), each.both.over(batches.both).spread("%.2f")})
	}
	r.table(rates)
	r.table(cost)
	for _, m := range cases {
		r.target(m.name()+", of a transaction a mail", m.cell(onPostgres).rate.over(m.cell(onPostgresTx).rate).median(), 2, false, "")
	}
	var taken, coded []string
	for _, c := range all {
		taken = append(taken, fmt.Sprint(c.taken))
		coded = append(coded, fmt.Sprintf("%.1f %%", 100*float64(c.coded)/float64(max(c.taken, 1))))
	}
	r.say("  The same binary three times; PostgreSQL on this machine over a socket, fsync on, with recycled log segments, and on the same processors. In batches, the mails")
	r.say("    that wait share a transaction. After each slice every mailbox held exactly the mails answered 250: %s; code found in %s.",
		strings.Join(taken, ", "), strings.Join(coded, ", "))
}

// spent is what a mail cost the service, and its database server.
func (c *cell) spent() string {
	return fmt.Sprintf("%.3f + %.3f", c.cpu.median(), c.database.median())
}
