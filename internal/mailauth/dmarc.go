package mailauth

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/emersion/go-msgauth/dmarc"
)

// policyResult is the DMARC record that applies, or why there is none.
type policyResult struct {
	record  *dmarc.Record
	verdict Verdict // when record is nil: none, temperror or permerror
	final   bool    // the organisational domain must not be asked
}

// findPolicy looks for the record of the domain, then of its organisational domain (RFC 7489 §6.6.3). dns is the
// Checker's resolver or a recall.
func (c *Checker) findPolicy(ctx context.Context, dns Resolver, domain string) policyResult {
	if !isPublic(domain) {
		return policyResult{verdict: None}
	}
	p := c.policyOf(ctx, dns, domain)
	if p.final {
		return p
	}
	if org := organizational(domain); org != domain {
		return c.policyOf(ctx, dns, org)
	}
	return p
}

// policyOf looks for the record of one domain.
func (c *Checker) policyOf(ctx context.Context, dns Resolver, domain string) policyResult {
	texts, err := dns.LookupTXT(ctx, "_dmarc."+domain)
	if err != nil {
		if e, ok := err.(*net.DNSError); ok && e.IsNotFound {
			return policyResult{verdict: None}
		}
		return policyResult{verdict: TempError, final: true}
	}
	var records []string
	for _, t := range texts {
		if isPolicyRecord(t) {
			records = append(records, t)
		}
	}
	if len(records) != 1 { // of several, none applies, and the search ends
		return policyResult{verdict: None, final: len(records) > 1}
	}
	return c.policy(records[0])
}

// Bounds of the cached policy records; one of 300 octets is long.
const (
	maxPolicies   = 1024 // records
	maxPolicySize = 512  // octets; longer records are parsed each time
)

// policy parses a policy record. Results are cached by the text of the record, so that they need no expiry.
func (c *Checker) policy(text string) policyResult {
	if len(text) > maxPolicySize {
		return parsePolicy(text)
	}
	policy, known := c.policies.Get(text, time.Time{})
	if !known {
		policy = parsePolicy(text)
		c.policies.Put(text, policy, 1, time.Time{})
	}
	return policy
}

// parsePolicy parses a policy record. A record that cannot be parsed is permerror and final.
func parsePolicy(text string) policyResult {
	// Values but addresses, which are not used here, are without case (RFC 7489 §6.4); the library expects lower case.
	record, err := dmarc.Parse("v=DMARC1;" + strings.ToLower(afterVersion(text)))
	if err != nil {
		return policyResult{verdict: PermError, final: true}
	}
	return policyResult{record: record, final: true}
}

// isPolicyRecord recognises the version tag, which must come first and exactly so (RFC 7489 §6.3).
func isPolicyRecord(text string) bool {
	version, _, _ := strings.Cut(text, ";")
	name, value, _ := strings.Cut(version, "=")
	return strings.TrimSpace(name) == "v" && strings.TrimSpace(value) == "DMARC1"
}

// afterVersion returns the tags after the version.
func afterVersion(text string) string {
	_, rest, _ := strings.Cut(text, ";")
	return rest
}

// evaluate returns pass if an authenticated identity is aligned with the From field (RFC 7489 §4.2). If none is, but
// one that could not be checked might be, the verdict is temperror.
func evaluate(p policyResult, id identities, r Result) Verdict {
	if p.record == nil {
		return p.verdict
	}
	verdict := Fail
	consider := func(v Verdict, domain string, mode dmarc.AlignmentMode) {
		switch {
		case !aligned(domain, id.from, mode):
		case v == Pass:
			verdict = Pass
		case v == TempError && verdict != Pass:
			verdict = TempError
		}
	}
	consider(r.SPF, id.spf, p.record.SPFAlignment)
	for _, s := range r.Signatures {
		consider(s.Verdict, s.Domain, p.record.DKIMAlignment)
	}
	if verdict == Fail && r.DKIM == TempError && len(r.Signatures) == 0 {
		return TempError // signatures, of unknown domains, were not checked in time
	}
	return verdict
}

// aligned compares an authenticated domain with the From field's (RFC 7489 §3.1).
func aligned(domain, from string, mode dmarc.AlignmentMode) bool {
	if domain == "" || from == "" {
		return false
	}
	if mode == dmarc.AlignmentStrict {
		return domain == from
	}
	return domain == from || organizational(domain) == organizational(from)
}
