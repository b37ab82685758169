// Package spf evaluates the Sender Policy Framework (RFC 7208): whether a domain lets an address send its mail. It
// reads the whole record before it evaluates any of it, since a syntax error anywhere makes the record invalid
// (RFC 7208 §4.6), and bounds the DNS look-ups that the record can cause (§4.6.4).
//
// Records are parsed in record.go, the macros in them in macro.go, and mechanisms are evaluated in mechanism.go.
// Explanations (exp=) are checked for their syntax and never fetched: no reply shows one.
package spf

import (
	"context"
	"net"
	"net/netip"
	"strings"
)

// Result is the result of check_host() (RFC 7208 §2.6).
type Result string

// The results.
const (
	None      Result = "none"
	Neutral   Result = "neutral"
	Pass      Result = "pass"
	Fail      Result = "fail"
	SoftFail  Result = "softfail"
	TempError Result = "temperror"
	PermError Result = "permerror"
)

// Resolver is the DNS that [Check] needs. Errors must be *[net.DNSError] values, with IsNotFound where the name or the
// record does not exist.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Query is a question to [Check].
type Query struct {
	IP     netip.Addr // of the client, which must be valid
	Helo   string     // the argument of HELO or EHLO, for the macro h
	Local  string     // the local part of the sender
	Domain string     // the domain of the sender, in A-label form
}

// Limits of RFC 7208 §4.6.4.
const (
	maxLookups = 10 // terms that cause DNS look-ups
	maxVoids   = 2  // of them, those that find nothing
	maxMX      = 10 // hosts of one MX look-up; more are an error
	maxNames   = 10 // names of one PTR look-up; more are ignored
)

// evaluation is one evaluation of check_host() with everything that it includes.
type evaluation struct {
	Query
	ctx      context.Context
	dns      Resolver
	lookups  int
	voids    int
	names    []string // of the client; valid if named
	named    bool
	nameless bool // the reverse zone has no name
}

// Check evaluates check_host() (RFC 7208 §4).
func Check(ctx context.Context, dns Resolver, q Query) Result {
	q.IP = q.IP.Unmap().WithZone("")
	e := evaluation{Query: q, ctx: ctx, dns: dns}
	return e.checkHost(q.Domain)
}

// checkHost evaluates the record of a domain. It recurses for include and redirect, as deep as maxLookups permits.
func (e *evaluation) checkHost(domain string) Result {
	if !isDomain(domain) || !strings.Contains(domain, ".") {
		return None // RFC 7208 §4.3
	}
	texts, err := e.dns.LookupTXT(e.ctx, domain)
	if err != nil {
		if IsNotFound(err) {
			return None
		}
		return TempError
	}
	texts = selectRecords(texts)
	switch {
	case len(texts) == 0:
		return None
	case len(texts) > 1:
		return PermError // RFC 7208 §4.5
	}
	r, ok := parseRecord(texts[0])
	if !ok {
		return PermError
	}
	for i := range r.directives {
		d := &r.directives[i]
		matched, failed := e.match(d, domain)
		if failed != "" {
			return failed
		}
		if matched {
			return d.result
		}
	}
	if r.redirect == nil {
		return Neutral // RFC 7208 §4.7
	}
	return e.redirect(e.expand(r.redirect, domain))
}

// redirect evaluates the record of another domain in place of the present one (RFC 7208 §6.1).
func (e *evaluation) redirect(domain string) Result {
	if !e.countLookup() {
		return PermError
	}
	result := e.checkHost(domain)
	if result == None {
		return PermError
	}
	return result
}

// selectRecords returns the texts that are SPF records (RFC 7208 §4.5).
func selectRecords(texts []string) (records []string) {
	for _, t := range texts {
		if len(t) >= len(version) && strings.EqualFold(t[:len(version)], version) && (len(t) == len(version) || t[len(version)] == ' ') {
			records = append(records, t)
		}
	}
	return records
}

// countLookup counts a term that causes a look-up, and reports whether it is permitted.
func (e *evaluation) countLookup() bool {
	e.lookups++
	return e.lookups <= maxLookups
}

// countVoid counts a look-up that found nothing, and reports whether it is permitted.
func (e *evaluation) countVoid() bool {
	e.voids++
	return e.voids <= maxVoids
}

// isDomain reports whether a name can be looked up: its labels have 1 to 63 octets, and all of it at most 253.
func isDomain(name string) bool {
	if name == "" || len(name) > maxDomain {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return true
}

// IsNotFound reports whether the error of a [Resolver] says that the name or the record does not exist.
func IsNotFound(err error) bool {
	e, ok := err.(*net.DNSError)
	return ok && e.IsNotFound
}
