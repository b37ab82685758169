package mailauth

import (
	"context"
	"net"
	"net/netip"

	"github.com/gonebox/gonebox/internal/mailauth/spf"
)

// recall is a Resolver that returns only what the underlying resolver has cached, by looking up in a context that has
// ended. For most mail that is everything. It costs neither a goroutine nor a timer. It is used for one mail by one
// goroutine.
type recall struct {
	Resolver
	failed bool // an answer was not cached, or is a cached failure

	asked   int      // look-ups of any kind
	records []answer // the TXT records that were found
}

// fromMemory returns the results of SPF and of DMARC's look-up from cached records; ok is false if the network has to be queried.
func (c *Checker) fromMemory(in Input, id identities) (spf Verdict, policy policyResult, ok bool) {
	known := &recall{Resolver: c.dns}
	if spf = c.recallSPF(known, in, id); known.failed {
		return "", policyResult{}, false
	}
	policy = c.findPolicy(c.ended, known, id.from)
	return spf, policy, !known.failed
}

// count counts a look-up and sets failed if it failed temporarily. A name that does not exist is not a failure.
func (r *recall) count(err error) {
	r.asked++
	if err != nil && !spf.IsNotFound(err) {
		r.failed = true
	}
}

// LookupTXT implements [Resolver].
func (r *recall) LookupTXT(ctx context.Context, name string) ([]string, error) {
	texts, err := r.Resolver.LookupTXT(ctx, name)
	r.count(err)
	if err == nil {
		r.records = append(r.records, answer{name, texts})
	}
	return texts, err
}

// LookupMX implements [Resolver].
func (r *recall) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	hosts, err := r.Resolver.LookupMX(ctx, name)
	r.count(err)
	return hosts, err
}

// LookupNetIP implements [Resolver].
func (r *recall) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	addrs, err := r.Resolver.LookupNetIP(ctx, network, host)
	r.count(err)
	return addrs, err
}

// LookupAddr implements [Resolver].
func (r *recall) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	names, err := r.Resolver.LookupAddr(ctx, addr)
	r.count(err)
	return names, err
}
