package domain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/resolver"
)

// Names looks up DNS records; *resolver.Resolver implements it. The names have no trailing dot. Errors are
// *net.DNSError; IsNotFound means that DNS answered that there is no record.
type Names interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
}

// lookupTimeout bounds one lookup with all its retries. A client waits for Verify, whose two lookups run at the same
// time.
const lookupTimeout = 10 * time.Second

// lookupResult is the result of looking up a record.
type lookupResult struct {
	ok            bool   // the record exists and is right
	authoritative bool   // DNS gave an authoritative answer; if not, nothing is known
	message       string // what was found instead
}

// lookupTXT looks up the proof. One of the TXT records must be right; the strings of a record are joined (RFC 7208 §3.3).
// resolver.Fresh bypasses the cache: the owner may have added the record a moment ago.
func (s *Service) lookupTXT(ctx context.Context, p *Private) lookupResult {
	ctx, cancel := context.WithTimeout(resolver.Fresh(ctx), lookupTimeout)
	defer cancel()
	texts, err := s.names.LookupTXT(ctx, proofLabel+p.Name)
	if err != nil {
		return failedLookup(err, "no TXT record was found")
	}
	want := proofPrefix + p.proof
	if slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), want) }) {
		return lookupResult{ok: true, authoritative: true}
	}
	return lookupResult{authoritative: true, message: fmt.Sprintf("found %s, which is not the value", quoted(texts))}
}

// lookupMX looks up the domain's MX records. One of them, of any preference, must name this server. Without MX records
// senders try the domain's addresses (RFC 5321 §5.1), which proves nothing and is not accepted. Hosts are compared as
// lower-case names without a trailing dot.
func (s *Service) lookupMX(ctx context.Context, name string) lookupResult {
	ctx, cancel := context.WithTimeout(resolver.Fresh(ctx), lookupTimeout)
	defer cancel()
	mxs, err := s.names.LookupMX(ctx, name)
	if err != nil {
		return failedLookup(err, "no MX record was found")
	}
	if resolver.IsNullMX(mxs) {
		return lookupResult{authoritative: true, message: "found a null MX record: the domain accepts no mail (RFC 7505)"}
	}
	hosts := make([]string, len(mxs))
	for i, mx := range mxs {
		hosts[i] = strings.ToLower(strings.TrimSuffix(mx.Host, "."))
	}
	if slices.Contains(hosts, s.policy.Hostname) {
		return lookupResult{ok: true, authoritative: true}
	}
	return lookupResult{authoritative: true, message: fmt.Sprintf("found %s, none of which is %s", quoted(hosts), s.policy.Hostname)}
}

// failedLookup returns the lookupResult for an error: an authoritative "no", or that nothing is known. The message does not name
// the DNS servers of the operator.
func failedLookup(err error, no string) lookupResult {
	dns, _ := errors.AsType[*net.DNSError](err)
	switch {
	case dns != nil && dns.IsNotFound:
		return lookupResult{authoritative: true, message: no}
	case dns != nil && dns.IsTimeout:
		return lookupResult{message: "DNS did not answer in time; try again later"}
	}
	return lookupResult{message: "DNS failed to answer; try again later"}
}

// Bounds of what a message quotes of records, which anyone may have written.
const (
	quotedRecords = 3
	quotedLength  = 100 // octets of each
)

// quoted quotes the beginning of what was found. %q escapes control characters and invalid UTF-8.
func quoted(found []string) string {
	var shown []string
	for _, f := range found[:min(len(found), quotedRecords)] {
		if len(f) > quotedLength {
			f = f[:quotedLength] + "…"
		}
		shown = append(shown, fmt.Sprintf("%q", f))
	}
	text := strings.Join(shown, ", ")
	if more := len(found) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
