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

// Names is the DNS that proves private domains; *resolver.Resolver is one.
type Names interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
}

// lookupFor bounds one look-up, with everything that the resolver tries.
const lookupFor = 10 * time.Second

// finding is what came of looking for a record.
type finding struct {
	ok       bool   // it is there and right
	answered bool   // DNS said yes or no; otherwise nothing is known
	message  string // what was found instead
}

// findTXT looks for the proof. Of several TXT records one has to be right; a record's strings count joined (RFC 7208 §3.3).
func (s *Service) findTXT(ctx context.Context, p *Private) finding {
	ctx, cancel := context.WithTimeout(resolver.Fresh(ctx), lookupFor)
	defer cancel()
	texts, err := s.names.LookupTXT(ctx, proofLabel+p.Name)
	if err != nil {
		return missed(err, "no TXT record was found")
	}
	want := proofPrefix + p.proof
	if slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), want) }) {
		return finding{ok: true, answered: true}
	}
	return finding{answered: true, message: fmt.Sprintf("found %s, which is not the value", quoted(texts))}
}

// findMX looks for a mail exchanger of the domain, of whatever preference, that is this server. Without any, a sender
// would try the domain's addresses (RFC 5321 §5.1); that proves nothing and is a no.
func (s *Service) findMX(ctx context.Context, name string) finding {
	ctx, cancel := context.WithTimeout(resolver.Fresh(ctx), lookupFor)
	defer cancel()
	mxs, err := s.names.LookupMX(ctx, name)
	if err != nil {
		return missed(err, "no MX record was found")
	}
	if resolver.IsNullMX(mxs) {
		return finding{answered: true, message: "found a null MX record: the domain takes no mail (RFC 7505)"}
	}
	hosts := make([]string, len(mxs))
	for i, mx := range mxs {
		hosts[i] = strings.ToLower(strings.TrimSuffix(mx.Host, "."))
	}
	if slices.Contains(hosts, s.policy.Hostname) {
		return finding{ok: true, answered: true}
	}
	return finding{answered: true, message: fmt.Sprintf("found %s, none of which is %s", quoted(hosts), s.policy.Hostname)}
}

// missed tells an authoritative "no" from not having been able to ask. Whom the resolver asked is nobody's business.
func missed(err error, no string) finding {
	dns, _ := errors.AsType[*net.DNSError](err)
	switch {
	case dns != nil && dns.IsNotFound:
		return finding{answered: true, message: no}
	case dns != nil && dns.IsTimeout:
		return finding{message: "DNS did not answer in time; try again later"}
	}
	return finding{message: "DNS failed to answer; try again later"}
}

// What is told of records that a stranger may have written.
const (
	toldRecords = 3
	toldLength  = 100
)

// quoted shows what was found, as much as helps.
func quoted(found []string) string {
	var shown []string
	for _, f := range found[:min(len(found), toldRecords)] {
		if len(f) > toldLength {
			f = f[:toldLength] + "…"
		}
		shown = append(shown, fmt.Sprintf("%q", f))
	}
	text := strings.Join(shown, ", ")
	if more := len(found) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
