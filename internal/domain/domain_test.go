package domain_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

const (
	hostname = "mx.gonebox-tests.net"
	public   = "box.gonebox-tests.net"
	every    = 6 * time.Hour
	alice    = id.Account("acc_alice")
	bob      = id.Account("acc_bob")
)

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// fixture is a Service with a fake DNS and fake mailboxes.
type fixture struct {
	*domain.Service
	clock *clock.Fake
	dns   *dns
	boxes *boxes
	max   int // quota of private domains, for each account
}

func (f *fixture) DomainsMax(context.Context, id.Account) (int, error) { return f.max, nil }

func newFixture(t testing.TB, d *db.DB) *fixture {
	t.Helper()
	f := &fixture{clock: clock.NewFake(noon()), dns: newDNS(), boxes: &boxes{ended: make(map[id.Domain]int)}, max: 5}
	f.Service = domain.New(d, f.clock, f.dns, f, domain.Policy{
		Configured: []string{public}, Hostname: hostname, RecheckEvery: every, SuspendAfter: 3,
	})
	if err := f.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// run runs a test on each engine.
func run(t *testing.T, test func(t *testing.T, f *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) { test(t, newFixture(t, d)) })
}

func (f *fixture) claim(t testing.TB, account id.Account, name string) *domain.Private {
	t.Helper()
	p, err := f.Claim(t.Context(), account, name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// verified claims and verifies a domain for an account.
func (f *fixture) verified(t testing.TB, account id.Account, name string) *domain.Private {
	t.Helper()
	p := f.claim(t, account, name)
	f.prove(p)
	p, err := f.Verify(t.Context(), account, p.ID, f.boxes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// prove adds the records of a claim to DNS.
func (f *fixture) prove(p *domain.Private) {
	records := f.Records(p)
	f.dns.setTXT(records[0].Name, records[0].Value)
	f.dns.setMX(p.Name, records[1].Value+".")
}

// status returns the status of an account's domain, "" if there is none.
func (f *fixture) status(t testing.TB, p *domain.Private) domain.Status {
	t.Helper()
	all, err := f.List(t.Context(), p.Account, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range all {
		if other.ID == p.ID {
			return other.Status
		}
	}
	return ""
}

// recheck moves the clock to the next re-check and runs it.
func (f *fixture) recheck(t testing.TB) {
	t.Helper()
	f.clock.Advance(every)
	if err := f.Recheck(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// reporter is a test or a property check.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

func wantCode(t reporter, err error, code problem.Code) {
	t.Helper()
	if code == "" && err != nil || code != "" && !problem.Has(err, code) {
		t.Errorf("the error is %v, want the problem %q (none if empty)", err, code)
	}
}

// boxes counts how often the mailboxes of a domain were destroyed.
type boxes struct {
	mu      sync.Mutex
	ended   map[id.Domain]int
	err     error
	between func(id.Domain) // called while a domain is being deleted
}

func (b *boxes) EndDomain(_ context.Context, private id.Domain) error {
	if b.between != nil {
		b.between(private)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.ended[private]++
	}
	return b.err
}

// dns is a fake DNS with the records of two maps. Other names do not exist.
type dns struct {
	mu       sync.Mutex
	txt      map[string][]string
	mx       map[string][]string
	fault    error  // of every look-up
	onLookup func() // called by each look-up; may be nil
}

func newDNS() *dns { return &dns{txt: make(map[string][]string), mx: make(map[string][]string)} }

func (d *dns) setTXT(name string, values ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.txt[name] = values
}

func (d *dns) setMX(name string, hosts ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mx[name] = hosts
}

func (d *dns) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = err
}

func (d *dns) find(records map[string][]string, name string) ([]string, error) {
	if d.onLookup != nil {
		d.onLookup()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.fault != nil:
		return nil, d.fault
	case len(records[name]) == 0:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return records[name], nil
}

func (d *dns) LookupTXT(_ context.Context, name string) ([]string, error) { return d.find(d.txt, name) }

func (d *dns) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	hosts, err := d.find(d.mx, name)
	var all []*net.MX
	for _, h := range hosts {
		all = append(all, &net.MX{Host: h, Pref: 5})
	}
	return all, err
}

var (
	timeout    = &net.DNSError{Err: "asked 192.0.2.53", IsTimeout: true, IsTemporary: true}
	servfail   = &net.DNSError{Err: "SERVFAIL of 192.0.2.53", IsTemporary: true}
	errUnknown = errors.New("192.0.2.53 made no sense")
)
