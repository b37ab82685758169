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

// Names looks up DNS records; *resolver.Resolver implements it. Arguments have no trailing dot. Errors are *net.DNSError, in
// which IsNotFound means that an authoritative answer says that there is no such record.
type Names interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
}

// lookupTimeout limits one lookup with all its retries. Clients wait for Verify, whose two lookups run concurrently.
const lookupTimeout = 10 * time.Second

// lookupResult is the result of looking up a record. The zero value means that nothing is known about the record.
type lookupResult struct {
	ok            bool   // the record exists and has the right value; then authoritative is true as well
	authoritative bool   // DNS gave an authoritative answer, and not a timeout or a failure
	message       string // if ok is false, what was found instead, for the owner of the domain
}

// lookupTXT looks up the TXT record that proves control of a domain. One of the TXT records must have the right value; the
// strings of a record are joined (RFC 7208 §3.3). resolver.Fresh bypasses the cache, since the owner may have added the
// record a moment ago.
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
// senders use the domain's addresses (RFC 5321 §5.1), which is not accepted, since it does not name this server. Hosts are
// compared as lower-case names without a trailing dot.
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

// failedLookup returns the result for an error of a lookup. It is authoritative if there is no such record, and then has the message
// notFound. Other messages do not contain the error, since that names the DNS servers of the operator.
func failedLookup(err error, notFound string) lookupResult {
	dns, _ := errors.AsType[*net.DNSError](err)
	switch {
	case dns != nil && dns.IsNotFound:
		return lookupResult{authoritative: true, message: notFound}
	case dns != nil && dns.IsTimeout:
		return lookupResult{message: "DNS did not answer in time; try again later"}
	}
	return lookupResult{message: "DNS failed to answer; try again later"}
}

// Limits for quoting records in messages, since the content of records is not trusted.
const (
	quotedRecords = 3
	quotedLength  = 100 // octets of each
)

// quoted returns the beginning of found, quoted, for a message. %q escapes control characters and invalid UTF-8.
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
