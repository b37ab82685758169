package doctor

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	"github.com/gonebox/gonebox/internal/resolver"
)

// Every blocklist has two entries for testing it (RFC 5782 §5): it must list the first address, and not the second. The
// octets are reversed, as in the name that is looked up.
const (
	testListed   = "2.0.0.127."
	testUnlisted = "1.0.0.127."
)

// checkBlocklists checks each list of smtp.dnsbl through the resolver that the service uses. The lists are looked up
// concurrently, and reported in the order of the configuration.
func (e *examination) checkBlocklists(ctx context.Context) {
	zones := e.cfg.SMTP.DNSBL
	if len(zones) == 0 {
		e.reportf("blocklists", OK, "none is configured")
		return
	}
	ctx, cancel := context.WithTimeout(resolver.Fresh(ctx), 2*lookupTimeout)
	defer cancel()
	findings := make([]Finding, len(zones))
	var all sync.WaitGroup
	for i, zone := range zones {
		all.Go(func() { findings[i] = e.checkBlocklist(ctx, zone) })
	}
	all.Wait()
	for _, f := range findings {
		e.report(f)
	}
}

// checkBlocklist checks that a list has the test entry, and does not list the address that no list may have.
func (e *examination) checkBlocklist(ctx context.Context, zone string) Finding {
	finding := func(level Level, text string) Finding { return Finding{"blocklists", level, zone + " " + text} }
	listed, err := e.dns.LookupNetIP(ctx, "ip4", testListed+zone+".")
	if err != nil && !isNotFound(err) {
		return finding(Warning, "does not answer ("+oneLine(err)+"), so that it refuses no mail; check its name, or remove it from smtp.dnsbl")
	}
	code, refused := refusalCode(listed)
	switch {
	case refused:
		return finding(Warning, "refuses the queries of this resolver ("+code+"), so that it refuses no mail; set dns.resolver to a recursive resolver of your own, or register with the list")
	case len(listed) == 0:
		return finding(Warning, "does not have its test entry 127.0.0.2, so that it is no blocklist, or takes no queries from here; check its name and its terms")
	case !allLoopback(listed):
		return finding(Warning, "answers its test entry with an address outside 127.0.0.0/8, as a domain that is for sale does; remove it from smtp.dnsbl")
	}
	if other, err := e.dns.LookupNetIP(ctx, "ip4", testUnlisted+zone+"."); err == nil && len(other) > 0 {
		return finding(Warning, "lists 127.0.0.1, as a list does that lists every address; remove it from smtp.dnsbl")
	}
	return finding(OK, "answers")
}

// refusalCode returns the address that means that a list refuses the queries of this resolver. By convention it is in
// 127.255.255.0/24.
func refusalCode(answers []netip.Addr) (code string, refused bool) {
	for _, a := range answers {
		if text := a.Unmap().String(); strings.HasPrefix(text, "127.255.255.") {
			return text, true
		}
	}
	return "", false
}

// allLoopback reports whether all answers are in 127.0.0.0/8, as they must be from a blocklist (RFC 5782 §2.1).
func allLoopback(answers []netip.Addr) bool {
	for _, a := range answers {
		if !a.Unmap().IsLoopback() {
			return false
		}
	}
	return true
}
