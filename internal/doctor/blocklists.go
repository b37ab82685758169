package doctor

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	"github.com/gonebox/gonebox/internal/resolver"
)

// The entries of every blocklist for tests (RFC 5782 §5): the first must be listed, and the second must not.
const (
	testListed   = "2.0.0.127."
	testUnlisted = "1.0.0.127."
)

// blocklists checks that each list of smtp.dnsbl answers the resolver that the service asks it through.
func (e *examination) blocklists(ctx context.Context) {
	zones := e.cfg.SMTP.DNSBL
	if len(zones) == 0 {
		e.find("blocklists", OK, "none is configured")
		return
	}
	ctx, cancel := context.WithTimeout(resolver.Fresh(ctx), 2*lookupTimeout)
	defer cancel()
	findings := make([]Finding, len(zones))
	var all sync.WaitGroup
	for i, zone := range zones {
		all.Go(func() { findings[i] = e.blocklist(ctx, zone) })
	}
	all.Wait()
	for _, f := range findings {
		e.report(f)
	}
}

// blocklist checks a list: its test entry is listed, and the address that no list may have is not.
func (e *examination) blocklist(ctx context.Context, zone string) Finding {
	finding := func(level Level, text string) Finding { return Finding{"blocklists", level, zone + " " + text} }
	listed, err := e.dns.LookupNetIP(ctx, "ip4", testListed+zone+".")
	if err != nil && !isNotFound(err) {
		return finding(Warning, "does not answer ("+oneLine(err)+"), so that it refuses no mail; check its name, or remove it from smtp.dnsbl")
	}
	code, refused := refusal(listed)
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

// refusal returns the answer with which a list refuses the queries of a resolver: 127.255.255.0/24 by convention.
func refusal(answers []netip.Addr) (code string, yes bool) {
	for _, a := range answers {
		if text := a.Unmap().String(); strings.HasPrefix(text, "127.255.255.") {
			return text, true
		}
	}
	return "", false
}

// allLoopback reports whether all answers are in 127.0.0.0/8, as those of a blocklist are (RFC 5782 §2.1).
func allLoopback(answers []netip.Addr) bool {
	for _, a := range answers {
		if !a.Unmap().IsLoopback() {
			return false
		}
	}
	return true
}
