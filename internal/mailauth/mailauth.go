// Package mailauth authenticates the sender of a mail by SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489), and
// formats the results as RFC 8601 specifies (docs/spec/smtp.md#authentication-of-senders). It only reports: it refuses
// no mail.
//
// Checker.Check returns the verdicts on a mail, Checker.Header the field that reports them, and StripForged removes
// fields of a received mail that claim to be ours. The protocols are evaluated by libraries; this package bounds what
// a sender can make them do: the time for a mail, the number and size of signatures and keys, the size of the header,
// and, in the SPF library, the number of look-ups.
//
// Few senders send most mail, so a mail whose DNS records are all cached is checked without a goroutine, from cached
// evaluations of these records (recall.go, evaluated.go).
package mailauth

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/cache"
)

// Resolver is the DNS a [Checker] needs. Errors must be bare *[net.DNSError] values, with IsNotFound where the name or
// record does not exist; *[net.Resolver] has this shape. In a context that has ended a look-up answers at once: what is known
// already, or an error.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Verdict is the result of one method in the terms of RFC 8601 §2.7.
type Verdict string

// The verdicts. SPF may have any of them; DKIM and DMARC have pass, fail, none, temperror or permerror.
const (
	Pass      Verdict = "pass"
	Fail      Verdict = "fail"
	SoftFail  Verdict = "softfail"
	Neutral   Verdict = "neutral"
	None      Verdict = "none"
	TempError Verdict = "temperror"
	PermError Verdict = "permerror"
)

// Input is the data of a received mail that the methods need.
type Input struct {
	RemoteIP   netip.Addr // of the client
	Helo       string     // the argument of its HELO or EHLO
	MailFrom   string     // the reverse-path without angle brackets; empty: the null one
	HeaderFrom string     // the address of the From field; empty if there is none or more than one
	Raw        []byte     // the message as received; it is only read, and not after Check has returned
}

// Result holds the verdicts and the identities they are about.
type Result struct {
	SPF, DKIM, DMARC Verdict

	MailFrom   string      // smtp.mailfrom; empty if the HELO identity was checked
	Helo       string      // smtp.helo
	Signatures []Signature // of DKIM, in the order of the message
	FromDomain string      // header.from, in A-label form; empty if the From field has no usable domain
}

// Signature is a DKIM signature and its verdict.
type Signature struct {
	Domain  string // header.d; empty if the field cannot be parsed
	Verdict Verdict
}

// Checker checks mails. It is safe for concurrent use.
type Checker struct {
	dns         Resolver
	hostname    string
	budget      time.Duration   // for one mail
	ended       context.Context // a context that has ended, in which a look-up only reads the cache; see fromMemory
	policies    *cache.Cache[string, policyResult]
	evaluations *cache.Cache[client, evaluation]
}

// New returns a Checker that queries dns, identifies itself as hostname (the authserv-id of RFC 8601 §2.5) and takes
// at most budget for a mail. Its caches are bounded.
func New(dns Resolver, hostname string, budget time.Duration) *Checker {
	ended, end := context.WithCancel(context.Background())
	end()
	return &Checker{
		dns: dns, hostname: hostname, budget: budget, ended: ended,
		policies: cache.New[string, policyResult](maxPolicies), evaluations: cache.New[client, evaluation](maxEvaluations),
	}
}

// Check returns the verdicts on a mail. It returns within the Checker's budget, or when ctx ends if that is earlier;
// methods that are not finished by then have temperror. Goroutines of the libraries may run a little longer, but no
// longer read in.Raw. An unsigned mail for which all DNS records are cached costs no goroutine and no timer.
func (c *Checker) Check(ctx context.Context, in Input) Result {
	id := identify(in)
	r := Result{
		SPF: None, DKIM: None, DMARC: None,
		MailFrom: in.MailFrom, Helo: in.Helo, FromDomain: id.from,
	}
	signed := hasField(in.Raw, "DKIM-Signature")
	if !signed && !isPublic(id.spf) && !isPublic(id.from) {
		return r
	}
	var policy policyResult
	var known bool
	if r.SPF, policy, known = c.fromMemory(in, id); known && !signed {
		r.DMARC = evaluate(policy, id, r)
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, c.budget)
	defer cancel()
	var dkim chan dkimResult
	if signed {
		message := newMessage(in.Raw)
		defer message.close()
		dkim = make(chan dkimResult, 1)
		go func() { dkim <- c.checkDKIM(ctx, message) }()
	}
	if !known {
		r.SPF, policy = c.ask(ctx, in, id)
	}
	if signed {
		d := receive(ctx, dkim, dkimResult{verdict: TempError})
		r.DKIM, r.Signatures = d.verdict, d.signatures
	}
	r.DMARC = evaluate(policy, id, r)
	return r
}

// ask looks up what SPF and DMARC need, both at the same time.
func (c *Checker) ask(ctx context.Context, in Input, id identities) (Verdict, policyResult) {
	spf, policy := make(chan Verdict, 1), make(chan policyResult, 1)
	go func() { spf <- checkSPF(ctx, c.dns, in, id) }()
	go func() { policy <- c.findPolicy(ctx, c.dns, id.from) }()
	verdict := receive(ctx, spf, TempError)
	if ctx.Err() != nil && verdict != Pass && verdict != Fail {
		verdict = TempError // the time ran out
	}
	return verdict, receive(ctx, policy, policyResult{verdict: TempError})
}

// receive returns the result of a method, or otherwise if ctx ends before there is one.
func receive[T any](ctx context.Context, from <-chan T, otherwise T) T {
	select {
	case v := <-from:
		return v
	case <-ctx.Done():
	}
	select {
	case v := <-from:
		return v
	default:
		return otherwise
	}
}
