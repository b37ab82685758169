package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/gonebox/gonebox/internal/problem"
)

// Length of a password in characters (spec §8).
const (
	passwordMin = 8
	passwordMax = 200
)

// What a new hash is made of (RFC 9106 §4).
const (
	saltLen = 16
	keyLen  = 32
)

// passwords hashes and checks passwords, as many at once as its gate allows.
type passwords struct {
	cost   Cost
	gate   *gate
	room   *room
	dummy  phc // what is checked where there is no account
	derive func(password, salt []byte, c Cost, n int) []byte
}

func newPasswords(c Cost) *passwords {
	c.Passes, c.Threads = max(c.Passes, 1), max(c.Threads, 1)
	c.Memory = max(c.Memory, 8*uint32(c.Threads)) // RFC 9106 §3.1
	return &passwords{cost: c, gate: newGate(c), room: newRoom(), dummy: phc{cost: c, salt: random(saltLen), key: random(keyLen)}, derive: argon2id}
}

func argon2id(password, salt []byte, c Cost, n int) []byte {
	return argon2.IDKey(password, salt, c.Passes, c.Memory, c.Threads, uint32(n))
}

// checkPassword holds a new password against the bounds. Error: request.invalid.
func checkPassword(password string) error {
	if n := utf8.RuneCountInString(password); n < passwordMin || n > passwordMax {
		return problem.Invalid("/password", "must be %d to %d characters long", passwordMin, passwordMax)
	}
	return nil
}

// hash returns the PHC string of a password. It waits for the slot's turn and releases the slot.
func (p *passwords) hash(ctx context.Context, slot *HashSlot, password string) (string, error) {
	defer slot.Release()
	if err := slot.wait(ctx); err != nil {
		return "", err
	}
	return p.fresh(password), nil
}

// check tells whether a password is the one whose hash is kept. Where none is kept ("") the same work is done for
// nothing, so that the time tells nobody whether there is such an account. A right password whose hash was cheaper than
// the present setting comes with a renewed one to keep. It waits for the slot's turn and releases the slot.
func (p *passwords) check(ctx context.Context, slot *HashSlot, kept, password string) (right bool, renewed string, err error) {
	defer slot.Release()
	h := p.dummy
	if kept != "" {
		if h, err = parsePHC(kept); err != nil {
			return false, "", fmt.Errorf("read a password's hash: %w", err)
		}
	}
	if err := slot.wait(ctx); err != nil {
		return false, "", err
	}
	key := p.key(password, h.salt, h.cost, len(h.key))
	right = subtle.ConstantTimeCompare(key, h.key) == 1 && kept != ""
	if right && h.cost.work() < p.cost.work() {
		renewed = p.fresh(password)
	}
	return right, renewed, nil
}

// fresh hashes a password at the present cost; the caller's slot is running.
func (p *passwords) fresh(password string) string {
	salt := random(saltLen)
	return phc{cost: p.cost, salt: salt, key: p.key(password, salt, p.cost, keyLen)}.String()
}

// key computes a hash; the caller's slot is running.
func (p *passwords) key(password string, salt []byte, c Cost, n int) []byte {
	leave := p.room.enter(int64(c.Memory))
	defer leave()
	return p.derive(prepared(password), salt, c, n)
}

// prepared gives a password the form that is hashed: the same text may be typed in different code points (RFC 8265 §4.2.2).
func prepared(password string) []byte { return norm.NFC.Bytes([]byte(password)) }

// work is what an attacker pays for each guess: how much memory is filled, all passes together.
func (c Cost) work() uint64 { return uint64(c.Memory) * uint64(c.Passes) }

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails, as crypto/rand documents
	return b
}
