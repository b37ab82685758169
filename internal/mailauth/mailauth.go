// Package mailauth authenticates the sender of a mail by SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489), and
// formats the results as RFC 8601 specifies (docs/spec/smtp.md#authentication-of-senders). It only reports: it refuses
// no mail.
//
// Checker.Check returns the verdicts on a mail and whether its sender is verified, which is decided nowhere else;
// Checker.Header returns the field that reports the verdicts, and StripForged removes fields of a received mail that
// claim to be ours. The packages spf and dkim below evaluate records and signatures (docs/decisions/0056); this package
// looks the records up and bounds what a sender can make it do: the time for a mail, the number of signatures, and the
// size of keys and of the header.
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
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
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
	HeaderFrom string     // the address of the only From field; empty if it does not name exactly one
	ReceivedAt time.Time  // what the expiry of signatures is compared with; zero: they do not expire
	Raw        []byte     // the message as received; it is only read, and not after Check has returned
}

// Result holds the verdicts and the identities they are about.
type Result struct {
	SPF, DKIM, DMARC Verdict

	SPFReason string // why SPF could not be checked, for the header field: words and spaces alone; empty: it was checked

	MailFrom   string      // smtp.mailfrom; empty if the HELO identity was checked
	Helo       string      // smtp.helo
	Signatures []Signature // of DKIM, in the order of the message
	FromDomain string      // header.from, in A-label form; empty if the From field has no usable domain

	// Verified reports whether FromDomain is proven: the mail has exactly one From field with exactly one address, and
	// DMARC passes, or, where the domain has no DMARC record, an SPF or DKIM pass is aligned with it.
	Verified bool
}

// Signature is a DKIM signature and its verdict.
type Signature struct {
	Domain    string // header.d, in A-label form; empty if the field cannot be parsed
	Selector  string // header.s
	Algorithm string // header.a
	Verdict   Verdict
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
// what is not known by then has temperror. Look-ups may go on a little longer, but do not read in.Raw. An unsigned mail
// for which all DNS records are cached costs no goroutine and no timer.
func (c *Checker) Check(ctx context.Context, in Input) Result {
	id, h := identify(in), scan(in.Raw)
	if h.froms > 1 {
		id.from = ""
	}
	r := Result{
		SPF: None, DKIM: None, DMARC: None,
		MailFrom: in.MailFrom, Helo: in.Helo, FromDomain: id.from,
	}
	if !h.signed && !isPublic(id.spf) && !isPublic(id.from) {
		return r
	}
	p := pending{signatures: new(signatures)}
	p.spf, p.policy, p.known = c.fromMemory(in, id)
	if h.signed {
		p.signatures = newSignatures(in, h, id.from)
	}
	if h.signed || !p.known {
		c.ask(ctx, in, id, &p)
	}
	return p.result(id, r)
}

// pending is a check whose records are looked up.
type pending struct {
	spf        Verdict
	policy     policyResult
	known      bool // spf and policy are final: they came from the cache
	waiting    int  // how many of spf and policy are still looked up
	signatures *signatures
}

// result completes r with what is known.
func (p *pending) result(id identities, r Result) Result {
	r.SPF = p.spf
	r.DKIM, r.Signatures = p.signatures.overall(), p.signatures.results
	r.DMARC = evaluate(p.policy, id, r)
	r.Verified = isVerified(p.policy, id, r)
	return r
}

// grace is how long a check waits for what cannot change whether the sender is verified, once everything else is known.
const grace = 500 * time.Millisecond

// answers carries what look-ups bring for a check, to the goroutine that runs it.
type answers chan func(*pending)

// ask looks up what SPF, DMARC and DKIM need, all at the same time.
func (c *Checker) ask(ctx context.Context, in Input, id identities, p *pending) {
	ctx, cancel := context.WithTimeout(ctx, c.budget)
	defer cancel()
	a := make(answers, 2+maxSignatures) // so that no look-up waits for a check that has ended
	if !p.known {
		p.spf, p.policy = TempError, policyResult{verdict: TempError, final: true}
		p.waiting = 2
		go func() { a <- c.askSPF(ctx, in, id) }()
		go func() {
			policy := c.findPolicy(ctx, c.dns, id.from)
			a <- func(p *pending) { p.policy, p.waiting = policy, p.waiting-1 }
		}()
	}
	p.signatures.lookUp(ctx, c, a)
	until, hurried := ctx.Done(), false
	for p.waiting > 0 || p.signatures.isWaiting(false) {
		if !hurried && p.isDecided(id) {
			short, cancel := context.WithTimeout(ctx, grace)
			defer cancel()
			until, hurried = short.Done(), true
		}
		if !a.receive(p, until) {
			return
		}
	}
}

// askSPF looks up the verdict of SPF.
func (c *Checker) askSPF(ctx context.Context, in Input, id identities) func(*pending) {
	v := checkSPF(ctx, c.dns, in, id)
	if ctx.Err() != nil && v != Pass && v != Fail {
		v = TempError // the time ran out
	}
	return func(p *pending) { p.spf, p.waiting = v, p.waiting-1 }
}

// isDecided reports whether the keys that are still looked up cannot change whether the sender is verified.
func (p *pending) isDecided(id identities) bool {
	return p.waiting == 0 && (!p.signatures.isWaiting(true) || p.result(id, Result{}).Verified)
}

// receive takes an answer. It returns false if until ends first; what is there already comes before that.
func (a answers) receive(p *pending, until <-chan struct{}) bool {
	select {
	case answer := <-a:
		answer(p)
		return true
	default:
	}
	select {
	case answer := <-a:
		answer(p)
		return true
	case <-until:
		return false
	}
}
