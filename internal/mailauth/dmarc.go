package mailauth

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/mailauth/spf"
)

// policyRecord is what verdicts need of a DMARC record. What a domain wants done with mail that fails is not used,
// since no mail is refused.
type policyRecord struct {
	strictDKIM bool // adkim=s
	strictSPF  bool // aspf=s
}

// policyResult is the DMARC record that applies, or why there is none.
type policyResult struct {
	record  *policyRecord
	verdict Verdict // when record is nil: none, temperror or permerror
	final   bool    // the organisational domain must not be asked
}

// isAbsent reports whether the domain has no record at all.
func (p policyResult) isAbsent() bool { return p.record == nil && p.verdict == None && !p.final }

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
		if spf.IsNotFound(err) {
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

// parsePolicy parses the tags of a policy record after the version. Errors in them are ignored, and what they would
// have said has its default (RFC 7489 §6.3). Only a record with neither a valid policy nor an address for
// reports is no record (§6.6.3): permerror, and final.
func parsePolicy(text string) policyResult {
	tags := make(map[string]string)
	for spec := range strings.SplitSeq(afterVersion(text), ";") {
		name, value, ok := strings.Cut(spec, "=")
		name = strings.ToLower(strings.TrimSpace(name)) // tags and keywords are without case (RFC 7489 §6.4)
		if _, repeated := tags[name]; ok && !repeated {
			tags[name] = strings.TrimSpace(value)
		}
	}
	switch strings.ToLower(tags["p"]) {
	case "none", "quarantine", "reject":
	default:
		if !hasReportAddress(tags["rua"]) {
			return policyResult{verdict: PermError, final: true}
		}
	}
	return policyResult{final: true, record: &policyRecord{
		strictDKIM: strings.EqualFold(tags["adkim"], "s"), strictSPF: strings.EqualFold(tags["aspf"], "s"),
	}}
}

// hasReportAddress reports whether a list of addresses for reports has a valid one (RFC 7489 §6.2).
func hasReportAddress(list string) bool {
	for address := range strings.SplitSeq(list, ",") {
		address, _, _ = strings.Cut(strings.TrimSpace(address), "!") // without the largest size of a report
		if u, err := url.Parse(address); err == nil && u.Scheme != "" && u.Opaque+u.Host != "" {
			return true
		}
	}
	return false
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
	consider := func(v Verdict, domain string, strict bool) {
		switch {
		case !aligned(domain, id.from, strict):
		case v == Pass:
			verdict = Pass
		case v == TempError && verdict != Pass:
			verdict = TempError
		}
	}
	consider(r.SPF, id.spf, p.record.strictSPF)
	for _, s := range r.Signatures {
		consider(s.Verdict, s.Domain, p.record.strictDKIM)
	}
	return verdict
}

// isVerified reports whether the domain of the From field is proven: by DMARC, or, where it has no DMARC record, by an
// SPF or DKIM pass that is aligned with it.
func isVerified(p policyResult, id identities, r Result) bool {
	if !p.isAbsent() {
		return r.DMARC == Pass
	}
	if r.SPF == Pass && aligned(id.spf, id.from, false) {
		return true
	}
	for _, s := range r.Signatures {
		if s.Verdict == Pass && aligned(s.Domain, id.from, false) {
			return true
		}
	}
	return false
}

// aligned compares an authenticated domain with the From field's (RFC 7489 §3.1).
func aligned(domain, from string, strict bool) bool {
	if domain == "" || from == "" {
		return false
	}
	if strict {
		return domain == from
	}
	return domain == from || organizational(domain) == organizational(from)
}
