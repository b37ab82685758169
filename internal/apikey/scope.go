package apikey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/problem"
)

// Scope is a permission of a key. The values are stored and part of the API.
type Scope string

// The scopes (docs/spec/keys.md#fields-and-limits).
const (
	MailboxesRead  Scope = "mailboxes:read"
	MailboxesWrite Scope = "mailboxes:write"
	MessagesRead   Scope = "messages:read"
	OTPRead        Scope = "otp:read"
)

// Scopes returns every scope, in the order of Key.Scopes.
func Scopes() []Scope { return []Scope{MailboxesRead, MailboxesWrite, MessagesRead, OTPRead} }

// ParseScopes parses the scopes of a new key: at least one, all of them known. Duplicates are removed. The result has
// the order of Scopes, whatever the order of names. Error: request.invalid.
func ParseScopes(names []string) ([]Scope, error) {
	if len(names) == 0 {
		return nil, problem.Invalid("/scopes", "must name at least one of %s", scopeNames())
	}
	for i, name := range names {
		if !slices.Contains(Scopes(), Scope(name)) {
			return nil, problem.Invalid(fmt.Sprintf("/scopes/%d", i), "must be one of %s", scopeNames())
		}
	}
	return slices.DeleteFunc(Scopes(), func(s Scope) bool { return !slices.Contains(names, string(s)) }), nil
}

// scopeNames lists the scopes for the detail of a problem.
func scopeNames() string {
	var names []string
	for _, s := range Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// MayHoldTokens reports whether a key may get mailbox tokens: whether it has the scopes for all that a token permits,
// which is to read a mailbox's messages and codes, and to change and destroy it. Otherwise a key could get through a
// token what its own scopes refuse.
func (k *Key) MayHoldTokens() bool {
	return k.Has(MessagesRead) && k.Has(OTPRead) && k.Has(MailboxesWrite)
}

// Has reports whether a key has a scope. No scope includes another.
func (k *Key) Has(s Scope) bool { return slices.Contains(k.Scopes, s) }
