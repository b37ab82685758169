package bankpay

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/netip"
	"slices"
	"strings"
)

// Gate decides which calls may report bank transactions. The zero value admits none. It does not change after NewGate
// and is safe for concurrent use.
type Gate struct {
	key      [sha256.Size]byte // the hash of the shared secret
	open     bool              // a secret is configured
	networks []netip.Prefix
}

// NewGate returns a Gate for a shared secret and the networks that the bank calls from. It admits no call if either is
// empty.
func NewGate(secret string, networks []netip.Prefix) Gate {
	return Gate{key: sha256.Sum256([]byte(secret)), open: secret != "", networks: slices.Clone(networks)}
}

// Admits reports whether a call is the bank's. authorization is the Authorization header: Apikey and the secret. The
// secret is compared in constant time. Hashing both makes their lengths equal, which the comparison requires: unequal
// lengths would return at once and reveal the secret's length. All conditions are evaluated before any of them is used,
// for the same reason.
func (g Gate) Admits(authorization string, client netip.Addr) bool {
	scheme, secret, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(secret)))
	equal := subtle.ConstantTimeCompare(sum[:], g.key[:]) == 1
	// Both are required: a network alone would admit every machine in it, and a secret alone everyone who can read a log
	// that contains it.
	from := slices.ContainsFunc(g.networks, func(n netip.Prefix) bool { return n.Contains(client) })
	return g.open && equal && from && strings.EqualFold(scheme, "Apikey")
}
