// Package token mints and checks the bearer credentials of the service: signed mailbox tokens, and random secrets of which
// only a hash is stored (docs/spec/conventions.md#credentials). Its callers check rows, expiry, epochs, scopes and networks.
package token

import (
	"strings"

	"github.com/gonebox/gonebox/internal/problem"
)

// Kind is a credential's prefix, which says what it is a credential for.
type Kind string

// The kinds of credential.
const (
	Mailbox   Kind = "xm_" // one mailbox; signed, see Keyring
	User      Kind = "xu_" // an account; a secret
	Guest     Kind = "xg_" // a guest session; a secret
	Developer Kind = "x_"  // a developer key: x_<prefix>_<secret>
)

// KindOf returns the kind of a credential by its prefix; ok is false for an unknown prefix.
func KindOf(credential string) (k Kind, ok bool) {
	for _, k := range [...]Kind{Mailbox, User, Guest, Developer} {
		if strings.HasPrefix(credential, string(k)) {
			return k, true
		}
	}
	return "", false
}

// invalid is the error for every invalid credential, without a reason that would help a forger.
func invalid() error { return problem.New(problem.AuthInvalidToken) }

// mistyped is the error for a wrong form or checksum, which clients can compute themselves.
func mistyped() error {
	return problem.Detailf(problem.AuthInvalidToken, "the credential is mistyped or was not copied whole")
}
