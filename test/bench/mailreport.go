package main

import (
	"time"
)

func (r *report) mail(c *contestant, cases []*mailCase, rounds int, length time.Duration) {
	r.say("\nMAIL: %d senders, %d rounds of %s a contestant and case", senders, rounds, length)
	ratios := [][]string{{"gonebox against " + library, "by rate", "by CPU time"}}
	for _, m := range cases {
		our, lib := m.cell(ours), m.cell(library)
		r.bar("Mails for each second of the server's processor time", m.name(), "go-smtp, stores nothing", 1000/our.cpu.median(), 1000/lib.cpu.median())
		ratios = append(ratios, []string{m.name(), our.rate.over(lib.rate).spread("%.2f"), lib.both.over(our.both).spread("%.2f")})
	}
	r.table(ratios)
	r.say("  By CPU time: the ratio of the rates if only the CPU time of server and generator together counted;")
	r.say("  it is meaningful on a machine that runs other programs too, where the rates are not.")
	for _, m := range cases {
		target := 0.35
		if m.kind.size > 4<<10 {
			target = 0.45
		}
		r.target(m.name()+", of "+library, m.cell(ours).rate.over(m.cell(library).rate).median(), target, false, "")
	}
	for _, t := range []struct {
		what string
		of   func(*cell) string
	}{
		{"mails a second", func(c *cell) string { return c.rate.spread("%.0f") }},
		{"server's CPU seconds per 1,000 mails", func(c *cell) string { return c.cpu.spread("%.3f") }},
		{"generator's share of the CPU time of both", func(c *cell) string { return c.generator.spread("%.2f") }},
		{"share of the machine that other processes used", func(c *cell) string { return c.others.spread("%.2f") }},
	} {
		rows := [][]string{{t.what, ours, library}}
		for _, m := range cases {
			rows = append(rows, []string{m.name(), t.of(m.cell(ours)), t.of(m.cell(library))})
		}
		r.table(rows)
	}
	r.say("  %s: the built binary on a new data folder on disk, everything default but raised limits: mail parsed, SPF and DMARC looked up at a", ours)
	r.say("    resolver on loopback, code extracted, message and raw message on stable storage before 250. %d mailboxes, one recipient a mail.", boxCount)
	r.say("    After each of its slices every mailbox was listed over HTTP and held exactly the mails answered 250: %d mails; code found in %.1f %%.",
		c.taken, 100*float64(c.coded)/float64(max(c.taken, 1)))
	r.say("  %s: go-smtp v0.25.1, which reads the message and stores nothing, in a process of its own.", library)
	for _, k := range []kind{small(), large()} {
		r.say("  %s: %s; trace and List fields, unsigned.", k.name, k.what)
	}
	r.say("  One generator for all: MAIL, RCPT and DATA in one write (RFC 2920), mails built beforehand and stamped in place.")
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
