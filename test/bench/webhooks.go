package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	healthyEndpoints = 20
	hookSenders      = 8
	never            = -time.Second // the pace of an endpoint that takes a request and does not answer
	nearlyTooSlow    = 14 * time.Second
)

// hookSettings let the service post to this machine, and an account have many endpoints and much mail.
func hookSettings() map[string]string {
	return map[string]string{
		"webhooks.allow_networks": "127.0.0.0/8", "webhooks.pause_after_failures": "1000000",
		"plans.free.webhooks.max": "100", "plans.free.mail.daily.max": "100000000", "plans.free.mailboxes.max": "1000000",
	}
}

// hooks is an account with a mailbox and endpoints.
type hooks struct {
	service   *gonebox
	token     string
	box       mailbox
	endpoints []*endpoint
}

// webhooksPart measures deliveries: how many a second go out, and how soon after the reply 250 they arrive, first with
// healthy endpoints alone and then with some beside them that hardly answer.
func webhooksPart(ctx context.Context, b *bench) error {
	mails, tries := 1000, 200
	if b.quick {
		mails, tries = 200, 50
	}
	paces := make([]time.Duration, healthyEndpoints, healthyEndpoints+2)
	all, err := b.endpoints(append(paces, never, nearlyTooSlow))
	if err != nil {
		return err
	}
	defer func() {
		for _, e := range all {
			_ = e.server.Close()
		}
	}()
	g, err := b.startGonebox(ctx, b.dataDir(), nil)
	if err != nil {
		return err
	}
	defer g.stop()
	h := &hooks{service: g, endpoints: all[:1]}
	if err := h.open(ctx); err != nil {
		return err
	}
	one, err := h.rate(ctx, mails)
	if err != nil {
		return err
	}
	b.report.note("webhooks: one endpoint done")
	h.endpoints = all[:healthyEndpoints]
	if err := h.register(ctx, all[1:healthyEndpoints]); err != nil {
		return err
	}
	many, err := h.rate(ctx, mails)
	if err != nil {
		return err
	}
	alone, err := h.delays(ctx, tries)
	if err != nil {
		return err
	}
	b.report.note("webhooks: %d endpoints done", healthyEndpoints)
	if err := h.register(ctx, all[healthyEndpoints:]); err != nil {
		return err
	}
	beside, err := h.delays(ctx, tries)
	if err != nil {
		return err
	}
	b.report.webhooks(one, many, alone, beside)
	return nil
}

// open makes the account, its mailbox and its endpoints.
func (h *hooks) open(ctx context.Context) error {
	c, err := dial(ctx, h.service.web)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	params, err := json.Marshal(map[string]string{"email": "account@bench.example", "password": "correct horse battery staple"})
	if err != nil {
		return err
	}
	var account struct{ Data struct{ Token string } }
	if err := c.call(201, "POST", "/auth/register", "", string(params), &account); err != nil {
		return err
	}
	h.token = account.Data.Token
	box := struct{ Data *mailbox }{&h.box}
	if err := c.call(201, "POST", "/mailboxes", h.token, fmt.Sprintf(`{"localPart":%q}`, boxName(0)), &box); err != nil {
		return err
	}
	return h.register(ctx, h.endpoints)
}

// register makes endpoints the account's, and waits for their pings.
func (h *hooks) register(ctx context.Context, endpoints []*endpoint) error {
	c, err := dial(ctx, h.service.web)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for _, e := range endpoints {
		params := fmt.Sprintf(`{"url":%q,"events":["message.received"]}`, e.url)
		if err := c.call(201, "POST", "/me/webhooks", h.token, params, &struct{}{}); err != nil {
			return err
		}
	}
	for _, e := range endpoints {
		if err := e.await(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// await waits until an endpoint has had so many deliveries.
func (e *endpoint) await(ctx context.Context, n int64) error {
	for begun := time.Now(); e.got.Load() < n; time.Sleep(100 * time.Microsecond) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(begun) > patience:
			return fmt.Errorf("%s has had %d deliveries of %d", e.url, e.got.Load(), n)
		}
	}
	return nil
}

// outflow is what a run of mails came to.
type outflow struct {
	endpoints int
	mails     float64 // a second, taken
	told      float64 // a second, deliveries from the first mail on
	cpu       time.Duration
}

// rate sends mails as fast as they are taken, and waits until every endpoint has heard of each.
func (h *hooks) rate(ctx context.Context, mails int) (o outflow, err error) {
	o.endpoints = len(h.endpoints)
	before := make([]int64, len(h.endpoints))
	for i, e := range h.endpoints {
		before[i] = e.got.Load()
	}
	used, err := h.service.cpu()
	if err != nil {
		return o, err
	}
	begun := time.Now()
	l := load{addrs: []string{h.service.smtp}, boxes: []mailbox{h.box}, reuse: true, length: time.Minute, most: mails / hookSenders}
	taken, err := l.run(ctx, newSenders(small(), hookSenders))
	if err != nil {
		return o, err
	}
	o.mails = taken.rate()
	for i, e := range h.endpoints {
		if err := e.await(ctx, before[i]+int64(len(taken.taken))); err != nil {
			return o, err
		}
	}
	deliveries := len(taken.taken) * len(h.endpoints)
	o.told = float64(deliveries) / time.Since(begun).Seconds()
	now, err := h.service.cpu()
	o.cpu = (now - used) / time.Duration(deliveries)
	return o, err
}

// delays sends one mail after another, and notes how long after the reply 250 each endpoint heard of it, in milliseconds.
func (h *hooks) delays(ctx context.Context, tries int) (all series, err error) {
	s := newSenders(small(), 1)[0]
	c, err := connect(ctx, h.service.smtp, s.helo, s.in)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	for range tries {
		before := make([]int64, len(h.endpoints))
		for i, e := range h.endpoints {
			before[i] = e.got.Load()
		}
		if err := errors.Join(c.conn.SetDeadline(time.Now().Add(patience)), s.one(c, load{boxes: []mailbox{h.box}, reuse: true})); err != nil {
			return nil, err
		}
		s.serial++
		taken := time.Now()
		for i, e := range h.endpoints {
			if err := e.await(ctx, before[i]+1); err != nil {
				return nil, err
			}
			all = append(all, time.Unix(0, e.last.Load()).Sub(taken).Seconds()*1000)
		}
	}
	return all, ctx.Err()
}

func (r *report) webhooks(one, many outflow, alone, beside series) {
	r.say("\nWEBHOOKS: HTTPS on this machine, the receivers on the same cores")
	rows := [][]string{{"", "mails/s taken", "deliveries/s", "service CPU a delivery, its mail in it"}}
	for _, o := range []outflow{one, many} {
		rows = append(rows, []string{
			fmt.Sprintf("%d endpoints", o.endpoints), fmt.Sprintf("%.0f", o.mails), fmt.Sprintf("%.0f", o.told), o.cpu.Round(time.Microsecond).String(),
		})
	}
	r.table(rows)
	r.say("  milliseconds from 250 to %d healthy endpoints, median / 99th percentile: %.2f / %.2f alone, %.2f / %.2f beside one that never answers and one that takes %s",
		healthyEndpoints, alone.median(), alone.quantile(0.99), beside.median(), beside.quantile(0.99), nearlyTooSlow)
	r.target("250 to delivery beside them, median", beside.median(), 250, true, " ms")
}
