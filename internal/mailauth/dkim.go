package mailauth

import (
	"context"
	"net"

	"github.com/emersion/go-msgauth/dkim"
)

// Limits of what is given to the DKIM library, since the signer chooses how many signatures there are and how often
// each looks for a header field. A mail beyond them has permerror.
const (
	maxSignatures    = 5
	maxHeader        = 256 << 10 // bytes
	maxFields        = 1000
	maxSignatureSize = 8 << 10 // bytes of one field
	maxKeyRecord     = 2 << 10 // bytes; an RSA key of 8,192 bits takes 1,400
)

// dkimResult is the verdict on a message and those on its signatures.
type dkimResult struct {
	verdict    Verdict
	signatures []Signature
}

// checkDKIM verifies the signatures of m. The message passes if one of them does (RFC 6376 §6.1).
func (c *Checker) checkDKIM(ctx context.Context, m *message) dkimResult {
	if !m.fitsDKIM() {
		return dkimResult{verdict: PermError}
	}
	verifications, err := dkim.VerifyWithOptions(m, &dkim.VerifyOptions{
		MaxVerifications: maxSignatures,
		LookupTXT:        func(name string) ([]string, error) { return c.lookupKey(ctx, name) },
	})
	if ctx.Err() != nil {
		return dkimResult{verdict: TempError}
	}
	r := dkimResult{verdict: None}
	for _, v := range verifications {
		s := Signature{Domain: normalDomain(v.Domain), Verdict: signatureVerdict(v.Err)}
		r.signatures = append(r.signatures, s)
		r.verdict = better(r.verdict, s.Verdict)
	}
	if err != nil && len(verifications) == 0 {
		r.verdict = PermError // the header cannot be read
	}
	return r
}

// fitsDKIM reports whether verifying costs no more than a mail may.
func (m *message) fitsDKIM() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	size, count := 0, 0
	for f := range fields(m.raw) {
		size += len(f)
		count++
		if size > maxHeader || count > maxFields || len(f) > maxSignatureSize && isField(f, "DKIM-Signature") {
			return false
		}
	}
	return true
}

// lookupKey fetches a public key record. One that is too long is treated as absent: checking a signature by a key of
// ten thousands of bits takes seconds.
func (c *Checker) lookupKey(ctx context.Context, name string) ([]string, error) {
	if !isPublic(normalDomain(name)) {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	records, err := c.dns.LookupTXT(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if len(r) > maxKeyRecord {
			return nil, nil
		}
	}
	return records, nil
}

// signatureVerdict converts the library's error for a signature (RFC 8601 §2.7.1).
func signatureVerdict(err error) Verdict {
	switch {
	case err == nil:
		return Pass
	case dkim.IsTempFail(err):
		return TempError
	case dkim.IsPermFail(err):
		return PermError
	}
	return Fail
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
