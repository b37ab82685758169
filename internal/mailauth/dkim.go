package mailauth

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/mailauth/dkim"
	"github.com/gonebox/gonebox/internal/mailauth/spf"
)

// Limits of DKIM, since the signer chooses how many signatures there are and how large the header is. A mail with a
// larger header has permerror; of more signatures, those that are usable and aligned with the From field come first.
const (
	maxSignatures = 5
	maxHeader     = 256 << 10 // octets
	maxFields     = 1000
	maxKeyRecord  = 2 << 10 // octets; an RSA key of 8,192 bits takes 1,400
)

// signatures are the signatures of a mail while they are verified. They are used by one goroutine; only the look-ups
// of their keys run on others.
type signatures struct {
	message *dkim.Message
	parsed  []*dkim.Signature
	results []Signature // in the order of the message
	aligned []bool      // with the From field, relaxed
	waiting []bool      // for the key
}

// newSignatures reads the signatures of a mail. Those that cannot be verified at all get their verdict; if the header
// cannot be judged, one verdict stands for all.
func newSignatures(in Input, h header, from string) *signatures {
	s := new(signatures)
	fields, body, ok := split(in.Raw)
	if !ok || h.froms > 1 { // which of several From fields a reader sees is not certain (RFC 6376 §8.15)
		s.results = []Signature{{Verdict: PermError}}
		return s
	}
	s.message = dkim.NewMessage(fields, body)
	for _, f := range choose(fields, from, in.ReceivedAt) {
		sig, usable := parse(f, in.ReceivedAt)
		r := Signature{Domain: sig.Domain, Selector: sig.Selector, Algorithm: sig.Algorithm, Verdict: TempError}
		if !usable {
			r.Verdict = PermError
		}
		s.parsed, s.results = append(s.parsed, sig), append(s.results, r)
		s.aligned = append(s.aligned, aligned(sig.Domain, from, false))
		s.waiting = append(s.waiting, r.Verdict == TempError)
	}
	return s
}

// parse parses a signature field. usable is false if it is malformed or expired before the mail was received.
func parse(field []byte, receivedAt time.Time) (sig *dkim.Signature, usable bool) {
	sig, err := dkim.Parse(field)
	return sig, err == nil && (receivedAt.IsZero() || !sig.ExpiredAt(receivedAt))
}

// choose returns the signature fields to verify, at most maxSignatures: those of the author's own domain and those
// aligned with it before others, since only they say something about the author, and unusable ones last; otherwise the
// topmost. They are in the order of the message.
func choose(fields [][]byte, from string, receivedAt time.Time) [][]byte {
	type candidate struct{ at, rank int }
	var all []candidate
	for i, f := range fields {
		if isField(f, "DKIM-Signature") {
			all = append(all, candidate{at: i})
		}
	}
	if len(all) > maxSignatures {
		for i := range all {
			all[i].rank = unusable
			if sig, ok := parse(fields[all[i].at], receivedAt); ok {
				all[i].rank = distance(sig.Domain, from)
			}
		}
		slices.SortStableFunc(all, func(a, b candidate) int { return a.rank - b.rank })
		all = all[:maxSignatures]
		slices.SortFunc(all, func(a, b candidate) int { return a.at - b.at })
	}
	chosen := make([][]byte, len(all))
	for i, c := range all {
		chosen[i] = fields[c.at]
	}
	return chosen
}

// unusable is more than any distance.
const unusable = 3

// distance is 0 for the author's own domain, 1 for one that is aligned with it and 2 for any other.
func distance(domain, from string) int {
	switch {
	case aligned(domain, from, true):
		return 0
	case aligned(domain, from, false):
		return 1
	}
	return 2
}

// lookUp starts the look-ups of the keys, all at the same time, so that a server that does not answer delays no other.
func (s *signatures) lookUp(ctx context.Context, c *Checker, a answers) {
	for i, sig := range s.parsed {
		if s.waiting[i] {
			go func() {
				texts, err := c.lookupKey(ctx, sig.Selector+"._domainkey."+sig.Domain)
				a <- func(*pending) { s.verify(i, texts, err) }
			}()
		}
	}
}

// lookupKey fetches the key records of a name.
func (c *Checker) lookupKey(ctx context.Context, name string) ([]string, error) {
	if !isPublic(name) {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return c.dns.LookupTXT(ctx, name)
}

// verify verifies the signature at index i by the key records that were found, or gives it the verdict for err.
func (s *signatures) verify(i int, texts []string, err error) {
	s.waiting[i] = false
	v := TempError
	if spf.IsNotFound(err) {
		v = PermError
	} else if err == nil {
		v = s.verdict(s.parsed[i], texts)
	}
	s.results[i].Verdict = v
}

// verdict returns the verdict on a signature by its key records (RFC 8601 §2.7.1).
func (s *signatures) verdict(sig *dkim.Signature, texts []string) Verdict {
	// Several records at one selector are undefined (RFC 6376 §3.6.2.2). Verifying by a key of ten thousands of bits
	// would take seconds.
	if len(texts) != 1 || len(texts[0]) > maxKeyRecord {
		return PermError
	}
	key, err := dkim.ParseKey(texts[0])
	if err != nil {
		return PermError
	}
	switch err := s.message.Verify(sig, key); {
	case err == nil:
		return Pass
	case errors.Is(err, dkim.ErrMismatch):
		return Fail
	}
	return PermError
}

// isWaiting reports whether a key has not been looked up yet. With alignedOnly, only of an aligned signature.
func (s *signatures) isWaiting(alignedOnly bool) bool {
	for i, waiting := range s.waiting {
		if waiting && (s.aligned[i] || !alignedOnly) {
			return true
		}
	}
	return false
}

// overall returns the verdict on the message, which passes if one of its signatures does (RFC 6376 §6.1).
func (s *signatures) overall() Verdict {
	v := None
	for _, r := range s.results {
		v = better(v, r.Verdict)
	}
	return v
}

// better returns the verdict on a message from those on two signatures: a pass wins, then what may still pass later.
func better(a, b Verdict) Verdict {
	for _, v := range []Verdict{Pass, TempError, Fail, PermError} {
		if a == v || b == v {
			return v
		}
	}
	return None
}
