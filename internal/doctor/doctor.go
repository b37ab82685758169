// Package doctor checks whether a machine and its DNS are ready for a service
// (docs/operating.md#check-an-installation).
//
// Examine runs the checks one after the other and reports each as a Finding, with its level and what to do. It changes
// nothing, except that it binds ports and writes a temporary file to measure syncs, and needs neither a running
// service nor a database. Every query to another machine is bounded in time, so that one that does not respond does
// not keep the other checks from being made.
package doctor

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/resolver"
)

// Level is how serious a finding is. The values are printed and public.
type Level string

// The levels. Only a failure makes gonebox doctor exit with 1.
const (
	OK      Level = "ok"
	Warning Level = "warning"
	Failure Level = "failure"
)

// Finding is the result of one check.
type Finding struct {
	Check string // name of the check
	Level Level
	Text  string // what was found; after a semicolon, what to do about it
}

// lookupTimeout bounds each query to another machine, DNS or not. A check that sends several has twice as long.
const lookupTimeout = 5 * time.Second

// Resolver looks up DNS, as package resolver does.
type Resolver interface {
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// examination is one run of the checks.
type examination struct {
	cfg    *config.Config
	dns    Resolver
	clock  clock.Clock
	report func(Finding)
}

// Examine runs all checks of a configuration and reports each finding as it is made, on the goroutine of the caller.
// If the resolver does not respond, the checks that need it are reported as not made.
func Examine(ctx context.Context, cfg *config.Config, report func(Finding)) {
	c := clock.System()
	e := &examination{
		cfg: cfg, clock: c, report: report,
		dns: resolver.New(resolver.Config{Addr: cfg.DNS.Resolver, Timeout: cfg.DNS.Timeout, Clock: c}),
	}
	e.checkConfiguration()
	e.checkDataDir()
	e.checkClock()
	if e.checkResolver(ctx) {
		e.besideIngress(func() {
			e.checkMX(ctx)
			e.checkPTR(ctx, e.checkAddresses(ctx))
		})
		e.checkBlocklists(ctx)
	} else {
		for _, check := range []string{"MX", "A and AAAA", "PTR", "blocklists"} {
			e.reportf(check, Warning, "not checked, since the resolver does not answer; see resolver")
		}
	}
	e.checkPort(ctx, "smtp.addr", cfg.SMTP.Addr)
	e.checkPort(ctx, "http.addr", cfg.HTTP.Addr)
	if cfg.HTTP.RedirectAddr != "" {
		e.checkPort(ctx, "http.redirect_addr", cfg.HTTP.RedirectAddr)
	}
	e.besideIngress(func() { e.checkPort25(ctx) })
	e.checkIngresses(ctx)
	e.checkIssuer(ctx)
	e.checkRelay(ctx)
	e.checkTLS()
	e.checkBaseURL(ctx)
	e.checkDatabase(ctx)
	e.checkDescriptors()
}

// reportf reports a finding whose text has the given format.
func (e *examination) reportf(check string, level Level, format string, args ...any) {
	e.report(Finding{check, level, fmt.Sprintf(format, args...)})
}

// checkConfiguration warns of the settings that open the service to everyone.
func (e *examination) checkConfiguration() {
	warnings := e.cfg.Warnings()
	for _, w := range warnings {
		e.reportf("configuration", Warning, "%s", w)
	}
	if len(warnings) == 0 {
		e.reportf("configuration", OK, "no setting opens the service to everyone")
	}
}

// checkResolver checks whether the resolver answers at all, even if only that the name has no MX record, and reports
// whether the checks that need it can be made.
func (e *examination) checkResolver(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(resolver.Fresh(ctx), 2*lookupTimeout)
	defer cancel()
	name := e.cfg.DNS.Resolver
	if name == "" {
		name = "the system's resolver"
	}
	if _, err := e.dns.LookupMX(ctx, "example.com"); err != nil && !isNotFound(err) {
		e.reportf("resolver", Failure, "%s does not answer (%s); SPF, DKIM, DMARC, private domains and webhooks need it: set dns.resolver to a recursive resolver, or install one", name, oneLine(err))
		return false
	}
	e.reportf("resolver", OK, "%s answers", name)
	return true
}

// checkMX checks the MX records of the configured domains.
func (e *examination) checkMX(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*lookupTimeout)
	defer cancel()
	for _, domain := range e.cfg.Domains {
		if isLocal(domain) {
			e.reportf("MX", OK, "%s is a name of this machine: no other server can send mail to it", domain)
			continue
		}
		found, err := e.dns.LookupMX(ctx, domain)
		var hosts []string
		for _, m := range found {
			hosts = append(hosts, strings.ToLower(strings.TrimSuffix(m.Host, ".")))
		}
		want := fmt.Sprintf("add the record: %s. MX 10 %s.", domain, e.cfg.SMTP.Hostname)
		switch {
		case err != nil:
			e.reportf("MX", Warning, "%s has none (%s); %s", domain, oneLine(err), want)
		case !contains(hosts, e.cfg.SMTP.Hostname):
			e.reportf("MX", Warning, "%s points to %s and not to smtp.hostname; %s", domain, strings.Join(hosts, ", "), want)
		default:
			e.reportf("MX", OK, "%s points to %s", domain, e.cfg.SMTP.Hostname)
		}
	}
}

// checkAddresses checks the address records of smtp.hostname and returns them.
func (e *examination) checkAddresses(ctx context.Context) []netip.Addr {
	ctx, cancel := context.WithTimeout(ctx, 2*lookupTimeout)
	defer cancel()
	host := e.cfg.SMTP.Hostname
	if isLocal(host) {
		e.reportf("A and AAAA", Warning, "smtp.hostname %s is a name of this machine; set it to the public name of this server", host)
		return nil
	}
	all, err := e.dns.LookupNetIP(ctx, "ip", host)
	if err != nil || len(all) == 0 {
		e.reportf("A and AAAA", Warning, "%s has no address (%s); add an A record, and an AAAA record if this server has IPv6", host, oneLine(err))
		return nil
	}
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.Unmap().String()
	}
	e.reportf("A and AAAA", OK, "%s has %s", host, strings.Join(texts, ", "))
	return all
}

// checkPTR checks the PTR records of the server's addresses.
func (e *examination) checkPTR(ctx context.Context, addresses []netip.Addr) {
	ctx, cancel := context.WithTimeout(ctx, 2*lookupTimeout)
	defer cancel()
	host := strings.ToLower(e.cfg.SMTP.Hostname)
	if len(addresses) == 0 {
		e.reportf("PTR", Warning, "not checked, since %s has no public address; see A and AAAA", host)
	}
	for _, a := range addresses {
		a = a.Unmap()
		names, err := e.dns.LookupAddr(ctx, a.String())
		for i := range names {
			names[i] = strings.ToLower(strings.TrimSuffix(names[i], "."))
		}
		switch {
		case err != nil || len(names) == 0:
			e.reportf("PTR", Warning, "%s has none (%s); ask the owner of the address, usually the hosting company, to set it to %s", a, oneLine(err), host)
		case !contains(names, host):
			e.reportf("PTR", Warning, "%s is %s; ask the owner of the address, usually the hosting company, to set it to %s", a, strings.Join(names, ", "), host)
		default:
			e.reportf("PTR", OK, "%s is %s", a, host)
		}
	}
}

// descriptorsWanted is the number of file descriptors that is enough for a busy server.
const descriptorsWanted = 8192

// checkDescriptors checks the limit of this process, which may differ from that of the service's unit.
func (e *examination) checkDescriptors() {
	n := connlimit.Descriptors()
	if n > 0 && n < descriptorsWanted {
		e.reportf("file descriptors", Warning, "%d are allowed here, which limits connections; set LimitNOFILE=65536 in the unit, or ulimit -n", n)
		return
	}
	e.reportf("file descriptors", OK, "enough are allowed here")
}

// contains reports whether names has a name, in any letter case.
func contains(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// isLocal reports whether a name is never looked up in DNS (RFC 6761).
func isLocal(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".invalid")
}
