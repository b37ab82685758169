package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// Length of a password in characters.
const (
	// passwordMin is the minimum of NIST SP 800-63B §5.1.1.2; passwordMax is above the 64 characters that it asks
	// services to accept.
	passwordMin = 8
	passwordMax = 200
)

// Octets of a new hash (RFC 9106 §4).
const (
	saltLen = 16
	keyLen  = 32
)

// passwords hashes and checks passwords. Its gate bounds how many at once. It is safe for concurrent use; its fields do
// not change after newPasswords, except that tests replace derive.
type passwords struct {
	cost   Cost // of new hashes
	gate   *gate
	memory *hashMemory // bounds the memory of hashes
	dummy  string      // the PHC string that is checked if there is no account, so that the time is the same
	derive func(password, salt []byte, c Cost, n int) []byte
}

// newPasswords returns passwords that hash with a cost, raised to the minimum that RFC 9106 §3.1 allows. Below it the
// library would panic or change the parameters silently.
func newPasswords(c Cost, clock clock.Clock) *passwords {
	c.Passes, c.Threads = max(c.Passes, 1), max(c.Threads, 1)
	c.Memory = max(c.Memory, 8*uint32(c.Threads)) // RFC 9106 §3.1
	return &passwords{cost: c, gate: newGate(c, clock), memory: newHashMemory(), dummy: unmatched(c).String(), derive: argon2id}
}

// argon2id computes n octets of Argon2id (RFC 9106) version 1.3.
func argon2id(password, salt []byte, c Cost, n int) []byte {
	return argon2.IDKey(password, salt, c.Passes, c.Memory, c.Threads, uint32(n))
}

// checkPassword checks the length of a new password in characters, before normalizing. There are no rules about which
// characters it has (NIST SP 800-63B §5.1.1.2). Error: request.invalid.
func checkPassword(password string) error {
	if n := utf8.RuneCountInString(password); n < passwordMin || n > passwordMax {
		return problem.Invalid("/password", "must be %d to %d characters long", passwordMin, passwordMax)
	}
	return nil
}

// hash returns the PHC string of a password. It waits for the slot's turn and releases the slot. Errors: those of
// HashSlot.Wait.
func (p *passwords) hash(ctx context.Context, slot *HashSlot, password string) (string, error) {
	defer slot.Release()
	if err := slot.Wait(ctx); err != nil {
		return "", err
	}
	return p.newHash(password), nil
}

// check reports whether a password matches a stored hash. If stored is "", it does the same work and reports false, so
// that the time does not reveal whether there is an account. If the password is right and its hash was cheaper than the
// current cost, renewed is a new hash to store. It waits for the slot's turn and releases the slot.
//
// A right password can be hashed twice, once with each cost; both count as one slot. Errors: those of
// HashSlot.Wait, and that of a stored text that is not a PHC string.
func (p *passwords) check(ctx context.Context, slot *HashSlot, stored, password string) (right bool, renewed string, err error) {
	defer slot.Release()
	h, err := parsePHC(cmp.Or(stored, p.dummy))
	if err != nil {
		return false, "", fmt.Errorf("parse a password hash: %w", err)
	}
	if err := slot.Wait(ctx); err != nil {
		return false, "", err
	}
	right = p.matches(h, password) && stored != ""
	switch cheaper := h.cost.work() < p.cost.work(); {
	case cheaper && right:
		renewed = p.newHash(password)
	case cheaper:
		p.workOn(h, password)
	}
	return right, renewed, nil
}

// workOn does what a hash at the current cost takes beyond the cheaper one that a password was checked against: a wrong password must take
// as long for an account from before the cost was raised as it does where there is none. The caller's slot is running.
func (p *passwords) workOn(h phc, password string) {
	rest := p.cost
	rest.Memory = max(uint32((p.cost.work()-h.cost.work())/uint64(p.cost.Passes)), 8*uint32(p.cost.Threads)) // RFC 9106 §3.1
	p.key(password, h.salt, rest, keyLen)
}

// replace checks a password against a stored hash and, if it is right, returns the hash of another one. No password is right for "". It waits for the slot's turn
// and releases the slot. Errors: those of check.
func (p *passwords) replace(ctx context.Context, slot *HashSlot, stored, current, next string) (right bool, hash string, err error) {
	defer slot.Release()
	h, err := parsePHC(cmp.Or(stored, p.dummy))
	if err != nil {
		return false, "", fmt.Errorf("parse a password hash: %w", err)
	}
	if err := slot.Wait(ctx); err != nil {
		return false, "", err
	}
	if right = p.matches(h, current) && stored != ""; right {
		hash = p.newHash(next)
	}
	return right, hash, nil
}

// matches reports whether a password has a hash; the caller's slot is running.
func (p *passwords) matches(h phc, password string) bool {
	return subtle.ConstantTimeCompare(p.key(password, h.salt, h.cost, len(h.key)), h.key) == 1
}

// newHash hashes a password with a new salt at the current cost; the caller's slot is running.
func (p *passwords) newHash(password string) string {
	salt := random(saltLen)
	return phc{cost: p.cost, salt: salt, key: p.key(password, salt, p.cost, keyLen)}.String()
}

// locked returns a PHC string that no password matches. Checking a password against it takes as long as against any other.
func (p *passwords) locked() string { return unmatched(p.cost).String() }

// unmatched returns a hash that was not computed from a password but drawn at random.
func unmatched(c Cost) phc { return phc{cost: c, salt: random(saltLen), key: random(keyLen)} }

// key computes a hash; the caller's slot is running.
func (p *passwords) key(password string, salt []byte, c Cost, n int) []byte {
	release := p.memory.acquire(int64(c.Memory))
	defer release()
	return p.derive(normalize(password), salt, c, n)
}

// normalize returns the form of a password that is hashed: the same text may be typed in different code points (RFC 8265
// §4.2.2).
func normalize(password string) []byte { return norm.NFC.Bytes([]byte(password)) }

// work is the cost of each guess for an attacker: the memory written in all passes, in KiB. Threads do not change it.
func (c Cost) work() uint64 { return uint64(c.Memory) * uint64(c.Passes) }

// random returns n random octets.
func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails, as crypto/rand documents
	return b
}
