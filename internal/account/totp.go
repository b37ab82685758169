package account

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"time"
)

// Parameters of the codes: the defaults of authenticator apps.
const (
	totpPeriod  = 30 // seconds a step
	totpDigits  = 6
	totpModulus = 1_000_000
	totpKeyLen  = 20 // bytes, of SHA-1 (RFC 4226 §4 R6)
)

// stepOf returns the time step of a time: the number of periods since 1970 (RFC 6238 §4.2).
func stepOf(at time.Time) int64 { return at.Unix() / totpPeriod }

// hotp returns the code of a counter (RFC 4226 §5.3), padded with zeros to totpDigits. With a time step as the counter
// it is the code of RFC 6238.
func hotp(key []byte, counter int64) string {
	return fmt.Sprintf("%0*d", totpDigits, truncated(key, counter)%totpModulus)
}

// truncated returns the dynamic truncation of RFC 4226 §5.3. The last four bits of the MAC select which four octets of
// it are used; the sign bit is removed, so that all languages compute the same number.
func truncated(key []byte, counter int64) uint32 {
	mac := hmac.New(sha1.New, key)
	var text [8]byte
	binary.BigEndian.PutUint64(text[:], uint64(counter))
	mac.Write(text[:])
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	return binary.BigEndian.Uint32(sum[at:]) & 0x7fff_ffff
}

// usedSteps records the time steps whose codes were accepted: each is accepted once (RFC 6238 §5.2). It is two integers
// in the account's row, so that accepting a code is one update. The zero value has no used steps of the present.
type usedSteps struct {
	last int64 // the latest of them
	bits int64 // bit i: last - i is one of them
}

// stepsKept is how many steps are recorded: more than the window of accepted codes. The window spans three steps; if a
// server's clock is set back by a minute or two, the steps used before are still known.
const stepsKept = 8

// accept reports whether a code is that of the current, the previous or the next step, and whether the step is unused.
// It returns the used steps including that one. The tolerance of one step covers clocks that differ by half a minute
// and the time of typing (RFC 6238 §5.2).
func (s usedSteps) accept(key []byte, code string, at time.Time) (usedSteps, bool) {
	now := stepOf(at)
	for step := now - 1; step <= now+1; step++ {
		if subtle.ConstantTimeCompare([]byte(hotp(key, step)), []byte(code)) == 1 && !s.has(step) {
			return s.with(step), true
		}
	}
	return s, false
}

// has reports whether a step is used. Steps too old to be recorded count as used.
func (s usedSteps) has(step int64) bool {
	back := s.last - step
	return back >= stepsKept || back >= 0 && s.bits>>back&1 == 1
}

// with returns the used steps and one more, which s.has must have reported as unused.
func (s usedSteps) with(step int64) usedSteps {
	if ahead := step - s.last; ahead > 0 {
		return usedSteps{last: step, bits: s.bits<<min(ahead, stepsKept)&(1<<stepsKept-1) | 1}
	}
	return usedSteps{last: s.last, bits: s.bits | 1<<(s.last-step)}
}
