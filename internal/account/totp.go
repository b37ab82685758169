package account

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"time"
)

// Parameters of the codes (decisions §2 Account): what authenticator apps take for granted.
const (
	totpPeriod  = 30 // seconds a step
	totpDigits  = 6
	totpModulus = 1_000_000
	totpKeyLen  = 20 // bytes, of SHA-1 (RFC 4226 §4 R6)
)

// stepOf is the time step that a moment falls into (RFC 6238 §4.2).
func stepOf(at time.Time) int64 { return at.Unix() / totpPeriod }

// hotp is the code of a counter (RFC 4226 §5.3); with a time step as the counter it is the code of RFC 6238.
func hotp(key []byte, counter int64) string {
	return fmt.Sprintf("%0*d", totpDigits, truncated(key, counter)%totpModulus)
}

// truncated is the dynamic truncation of RFC 4226 §5.3.
func truncated(key []byte, counter int64) uint32 {
	mac := hmac.New(sha1.New, key)
	var text [8]byte
	binary.BigEndian.PutUint64(text[:], uint64(counter))
	mac.Write(text[:])
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	return binary.BigEndian.Uint32(sum[at:]) & 0x7fff_ffff
}

// spent remembers the steps whose codes were accepted: each is accepted once (RFC 6238 §5.2).
type spent struct {
	last  int64 // the latest of them
	steps int64 // bit i: last - i is one of them
}

// stepsKept is how far back steps are remembered: more than the window, beyond which no code is accepted anyway.
const stepsKept = 8

// accept tells whether a code is that of the present step, the one before or the one after, and of a step that was not
// accepted yet. It returns what is spent then.
func (s spent) accept(key []byte, code string, at time.Time) (spent, bool) {
	now := stepOf(at)
	for step := now - 1; step <= now+1; step++ {
		if subtle.ConstantTimeCompare([]byte(hotp(key, step)), []byte(code)) == 1 && !s.has(step) {
			return s.with(step), true
		}
	}
	return s, false
}

func (s spent) has(step int64) bool {
	back := s.last - step
	return back >= stepsKept || back >= 0 && s.steps>>back&1 == 1
}

func (s spent) with(step int64) spent {
	if ahead := step - s.last; ahead > 0 {
		return spent{last: step, steps: s.steps<<min(ahead, stepsKept)&(1<<stepsKept-1) | 1}
	}
	return spent{last: s.last, steps: s.steps | 1<<(s.last-step)}
}
