// Package mailauth checks who a mail is from: SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489), and writes down the
// outcome as RFC 8601 has it. It reports and refuses nothing: what to do about a failure is for others to decide.
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

// Verdict is the outcome of one method in the words of RFC 8601 §2.7.
type Verdict string

// The verdicts. SPF may come to all of them, DKIM and DMARC to pass, fail, none, temperror and permerror.
const (
	Pass      Verdict = "pass"
	Fail      Verdict = "fail"
	SoftFail  Verdict = "softfail"
	Neutral   Verdict = "neutral"
	None      Verdict = "none"
	TempError Verdict = "temperror"
	PermError Verdict = "permerror"
)

// Input is what is known of a mail when it has been received.
type Input struct {
	RemoteIP   netip.Addr // of the client
	Helo       string     // the argument of its HELO or EHLO
	MailFrom   string     // the reverse-path without angle brackets; empty: the null one
	HeaderFrom string     // the address of the From field; empty if there is none or more than one
	Raw        []byte     // the message as received; it is only read, and not after Check has returned
}

// Result holds the verdicts and what they are about.
type Result struct {
	SPF, DKIM, DMARC Verdict

	MailFrom   string      // smtp.mailfrom; empty if the HELO identity was checked
	Helo       string      // smtp.helo
	Signatures []Signature // of DKIM, in the order of the message
	FromDomain string      // header.from, in A-label form; empty if the From field has no usable domain
}

// Signature is one DKIM signature and what became of it.
type Signature struct {
	Domain  string // header.d; empty if the field is too broken to tell
	Verdict Verdict
}

// Checker checks mails. It is safe for concurrent use.
type Checker struct {
	dns         Resolver
	hostname    string
	budget      time.Duration
	ended       context.Context // for fromMemory
	policies    *cache.Cache[string, policyResult]
	evaluations *cache.Cache[client, evaluation]
}

// New makes a Checker that asks dns, signs its findings with hostname (the authserv-id of RFC 8601 §2.5) and spends no
// more than budget on one mail.
func New(dns Resolver, hostname string, budget time.Duration) *Checker {
	ended, end := context.WithCancel(context.Background())
	end()
	return &Checker{
		dns: dns, hostname: hostname, budget: budget, ended: ended,
		policies: cache.New[string, policyResult](maxPolicies), evaluations: cache.New[client, evaluation](maxEvaluations),
	}
}

// Check gives the verdicts on one mail. It returns within the Checker's budget, or when ctx ends if that is earlier; what
// is not known by then is temperror. An unsigned mail about which nothing has to be asked costs no goroutine and no timer.
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
		verdict = TempError // the time ran out on the way
	}
	return verdict, receive(ctx, policy, policyResult{verdict: TempError})
}

// receive takes what a method came to, or otherwise when the time is up. A result that is there counts even then.
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
