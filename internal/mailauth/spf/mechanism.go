package spf

import (
	"net/netip"
	"strings"
)

// match reports whether the client matches a directive in the record of domain. failed is the result that ends the
// evaluation instead, or empty.
func (e *evaluation) match(d *directive, domain string) (matched bool, failed Result) {
	switch d.mechanism {
	case "all":
		return true, ""
	case "ip4", "ip6":
		return d.network.Contains(e.IP), ""
	}
	if !e.countLookup() {
		return false, PermError
	}
	target := e.expand(d.domain, domain)
	switch d.mechanism {
	case "include":
		return e.include(target)
	case "a":
		return e.matchA(d, target)
	case "mx":
		return e.matchMX(d, target)
	case "exists":
		addrs, failed := e.addresses("ip4", target) // A records, whatever the client is (RFC 7208 §5.7)
		return len(addrs) > 0, failed
	}
	return e.matchPTR(target)
}

// include matches if the record of another domain gives pass (RFC 7208 §5.2).
func (e *evaluation) include(domain string) (matched bool, failed Result) {
	switch r := e.checkHost(domain); r {
	case Pass:
		return true, ""
	case TempError:
		return false, TempError
	case PermError, None:
		return false, PermError
	}
	return false, ""
}

// addresses looks up addresses of a name and counts the look-up if it finds none.
func (e *evaluation) addresses(network, host string) (addrs []netip.Addr, failed Result) {
	if isDomain(host) {
		var err error
		if addrs, err = e.dns.LookupNetIP(e.ctx, network, host); err != nil && !IsNotFound(err) {
			return nil, TempError
		}
	}
	if len(addrs) == 0 && !e.countVoid() {
		return nil, PermError
	}
	return addrs, ""
}

// network is the family of the client's address, in the terms of package net.
func (e *evaluation) network() string {
	if e.IP.Is4() {
		return "ip4"
	}
	return "ip6"
}

// matchA implements the mechanism a (RFC 7208 §5.3).
func (e *evaluation) matchA(d *directive, host string) (matched bool, failed Result) {
	addrs, failed := e.addresses(e.network(), host)
	return e.isNear(d, addrs), failed
}

// isNear reports whether the client is in the network of one of the addresses.
func (e *evaluation) isNear(d *directive, addrs []netip.Addr) bool {
	bits := d.bits6
	if e.IP.Is4() {
		bits = d.bits4
	}
	for _, a := range addrs {
		a = a.Unmap().WithZone("")
		if a.BitLen() == e.IP.BitLen() && netip.PrefixFrom(a, bits).Contains(e.IP) {
			return true
		}
	}
	return false
}

// matchMX implements the mechanism mx (RFC 7208 §5.4).
func (e *evaluation) matchMX(d *directive, domain string) (matched bool, failed Result) {
	if !isDomain(domain) {
		return false, e.void()
	}
	records, err := e.dns.LookupMX(e.ctx, domain)
	if err != nil && !IsNotFound(err) {
		return false, TempError
	}
	if len(records) == 0 {
		return false, e.void()
	}
	if len(records) > maxMX {
		return false, PermError
	}
	for _, mx := range records {
		host := strings.TrimSuffix(mx.Host, ".")
		if !isDomain(host) {
			continue // the null MX, and names that are none
		}
		addrs, err := e.dns.LookupNetIP(e.ctx, e.network(), host)
		if err != nil && !IsNotFound(err) {
			return false, TempError
		}
		if e.isNear(d, addrs) {
			return true, ""
		}
	}
	return false, ""
}

// void counts a look-up that found nothing; the result is PermError if there were too many.
func (e *evaluation) void() Result {
	if e.countVoid() {
		return ""
	}
	return PermError
}

// matchPTR implements the mechanism ptr (RFC 7208 §5.5).
func (e *evaluation) matchPTR(domain string) (matched bool, failed Result) {
	for _, name := range e.validatedNames() {
		if isBelow(name, domain) {
			return true, ""
		}
	}
	if e.nameless {
		return false, e.void()
	}
	return false, ""
}

// validatedNames returns the names of the client that have its address. Errors count as no name (RFC 7208 §5.5), and
// the look-ups are made once: they do not depend on the record.
func (e *evaluation) validatedNames() []string {
	if e.named {
		return e.names
	}
	e.named = true
	names, err := e.dns.LookupAddr(e.ctx, e.IP.String())
	e.nameless = len(names) == 0 && (err == nil || IsNotFound(err))
	if err != nil {
		return nil
	}
	for _, name := range names[:min(len(names), maxNames)] {
		name = strings.TrimSuffix(name, ".")
		if !isDomain(name) {
			continue
		}
		addrs, err := e.dns.LookupNetIP(e.ctx, e.network(), name)
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if a.Unmap().WithZone("") == e.IP {
				e.names = append(e.names, name)
				break
			}
		}
	}
	return e.names
}

// validatedName returns the value of the macro p: the domain itself if it is a name of the client, or a name below it,
// or any name (RFC 7208 §7.3).
func (e *evaluation) validatedName(domain string) string {
	best := "unknown"
	for _, name := range e.validatedNames() {
		switch {
		case strings.EqualFold(name, domain):
			return name
		case isBelow(name, domain) && !isBelow(best, domain), best == "unknown":
			best = name
		}
	}
	return best
}

// isBelow reports whether a name is the domain or below it.
func isBelow(name, domain string) bool {
	if len(name) < len(domain) || domain == "" {
		return false
	}
	at := len(name) - len(domain)
	return strings.EqualFold(name[at:], domain) && (at == 0 || name[at-1] == '.')
}
