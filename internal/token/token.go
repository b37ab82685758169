// Package token mints and checks the bearer credentials of the service: signed mailbox tokens, and random
// secrets of which only a hash is stored (decisions §1). It refuses to know what a credential opens: rows,
// expiry, epochs, scopes and networks are its caller's.
package token

import (
	"strings"

	"github.com/gonebox/gonebox/internal/problem"
)

// Kind is a credential's prefix, which tells what it is a credential for (spec §5).
type Kind string

// The kinds of credential.
const (
	Mailbox   Kind = "xm_" // one mailbox; signed, see Keyring
	User      Kind = "xu_" // an account; a secret
	Guest     Kind = "xg_" // a guest session; a secret
	Developer Kind = "x_"  // a developer key: x_<prefix>_<secret>
)

// KindOf reports the kind of a credential by its prefix alone; ok is false where it has none of ours.
func KindOf(credential string) (k Kind, ok bool) {
	for _, k := range [...]Kind{Mailbox, User, Guest, Developer} {
		if strings.HasPrefix(credential, string(k)) {
			return k, true
		}
	}
	return "", false
}

// invalid is the one answer to every credential that is not ours: it does not tell a forger how far he got.
func invalid() error { return problem.New(problem.AuthInvalidToken) }

// mistyped is the answer where form or checksum is wrong, which anybody can work out for himself.
func mistyped() error {
	return problem.Detailf(problem.AuthInvalidToken, "the credential is mistyped or was not copied whole")
}
