package main

import (
	"time"
)

// mailTargets are what the service should reach of the rates of others, by case, in the order of mailCases.
var mailTargets = map[string][]float64{library: {0.85, 0.6, 0.8, 0.75}, inbucket: {1, 1, 1, 1}, postfix: {3, 3, 3, 3}}

// What the reply to a mail and the service's memory may come to.
const (
	smallLatency = 10  // milliseconds of the 99th percentile
	largeLatency = 25  // likewise
	peakMemory   = 100 // MiB
)

func (r *report) mail(all []*contestant, cases []*mailCase, rounds int, length time.Duration) {
	first := all[0]
	r.say("\nMAIL: %d senders, %d rounds of %s a contestant and case", senders, rounds, length)
	byRate, byCPU := [][]string{{"gonebox of others, by rate"}}, [][]string{{"by CPU time"}}
	for _, c := range all[1:] {
		byRate[0], byCPU[0] = append(byRate[0], c.name), append(byCPU[0], c.name)
	}
	for _, m := range cases {
		our, rate, cpu, bars := m.cell(ours), []string{m.name()}, []string{m.name()}, []bar{}
		for i, c := range all {
			other := m.cell(c.name)
			if c.name != earlier {
				bars = append(bars, bar{c.name, 1000 / other.cpu.median()})
			}
			if i > 0 {
				rate = append(rate, our.rate.over(other.rate).spread("%.2f"))
				cpu = append(cpu, other.both.over(our.both).spread("%.2f"))
			}
		}
		r.bars("Mails for each second of the server's processor time", m.name(), bars)
		byRate, byCPU = append(byRate, rate), append(byCPU, cpu)
	}
	r.table(byRate)
	r.table(byCPU)
	r.say("  By CPU time: the ratio of the rates if only the CPU time of server and generator together counted;")
	r.say("  it is meaningful on a machine that runs other programs too, where the rates are not.")
	for _, t := range []struct {
		what string
		of   func(*cell) string
	}{
		{"mails a second", func(c *cell) string { return c.rate.spread("%.0f") }},
		{"server's CPU seconds per 1,000 mails", func(c *cell) string { return c.cpu.spread("%.3f") }},
		{"milliseconds to the 250, median", func(c *cell) string { return c.p50.spread("%.1f") }},
		{"99th percentile", func(c *cell) string { return c.p99.spread("%.1f") }},
		{"generator's share of the CPU time of both", func(c *cell) string { return c.generator.spread("%.2f") }},
		{"share of the machine that other processes used", func(c *cell) string { return c.others.spread("%.2f") }},
	} {
		rows := [][]string{{t.what}}
		for _, c := range all {
			rows[0] = append(rows[0], c.name)
		}
		for _, m := range cases {
			row := []string{m.name()}
			for _, c := range all {
				row = append(row, t.of(m.cell(c.name)))
			}
			rows = append(rows, row)
		}
		r.table(rows)
	}
	for _, c := range all {
		r.say("  peak memory of %s: %.0f MiB", c.name, mebibytes(c.peak))
	}
	r.mailTargets(all, cases)
	r.mailNotes(first)
}

// mailNotes says what the contestants did.
func (r *report) mailNotes(first *contestant) {
	r.say("  %s: the built binary on a new data folder on disk, everything default but raised limits: mail parsed, SPF and DMARC looked up at a", ours)
	r.say("    resolver on loopback, code extracted, message and raw message on stable storage before 250. %d mailboxes, one recipient a mail.", boxCount)
	r.say("    After each of its slices every mailbox was listed over HTTP and held exactly the mails answered 250: %d mails; code found in %.1f %%.",
		first.taken, 100*float64(first.coded)/float64(max(first.taken, 1)))
	r.say("  %s: go-smtp v0.25.1, which reads the message and stores nothing, in a process of its own.", library)
	r.say("  %s: %s, in memory. %s: %s, database in a file. %s: Debian's, to a Maildir for each mailbox; the delivery after the 250 counts", inbucket, inbucketModule, mailpit, mailpitModule, postfix)
	r.say("    as CPU time and not for the rate. Each held as many messages as it had answered 250. Memory of its processes together, at the ends of slices.")
	for _, k := range []kind{small(), large()} {
		r.say("  %s: %s; trace and List fields, unsigned.", k.name, k.what)
	}
	r.say("  One generator for all: MAIL, RCPT and DATA in one write where the server offers it (RFC 2920; the service, %s, %s), mails built beforehand", library, postfix)
	r.say("    and stamped in place.")
}

// mailTargets compares the figures with what they should be.
func (r *report) mailTargets(all []*contestant, cases []*mailCase) {
	for i, m := range cases {
		for _, c := range all[1:] {
			if targets := mailTargets[c.name]; targets != nil {
				r.target(m.name()+", of "+c.name, m.cell(ours).rate.over(m.cell(c.name).rate).median(), targets[i], false, "")
			}
		}
		limit := float64(smallLatency)
		if m.kind.size > 4<<10 {
			limit = largeLatency
		}
		r.target(m.name()+", 99th percentile of the 250", m.cell(ours).p99.median(), limit, true, " ms")
	}
	r.target("peak memory", mebibytes(all[0].peak), peakMemory, true, " MiB")
}

// change reports what another version of the service came to.
func (r *report) change(cases []*mailCase) {
	rows := [][]string{{"two versions of gonebox", "CPU seconds per 1,000 mails", "before", "of before", "by rate"}}
	for _, m := range cases {
		now, before := m.cell(ours), m.cell(earlier)
		rows = append(rows, []string{
			m.name(), now.cpu.spread("%.3f"), before.cpu.spread("%.3f"), now.cpu.over(before.cpu).spread("%.2f"), now.rate.over(before.rate).spread("%.2f"),
		})
	}
	r.table(rows)
}
