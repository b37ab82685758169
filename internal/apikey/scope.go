package apikey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/problem"
)

// Scope is a right that a key may carry.
type Scope string

// The scopes (decisions §2 Developer key).
const (
	MailboxesRead  Scope = "mailboxes:read"
	MailboxesWrite Scope = "mailboxes:write"
	MessagesRead   Scope = "messages:read"
	OTPRead        Scope = "otp:read"
)

// Scopes lists every scope in the order in which a key's are kept.
func Scopes() []Scope { return []Scope{MailboxesRead, MailboxesWrite, MessagesRead, OTPRead} }

// ParseScopes reads the scopes of a new key: at least one, each of them known; naming one twice is naming it once. Error: request.invalid.
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

func scopeNames() string {
	var names []string
	for _, s := range Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// MayHoldTokens reports whether a key may be handed mailbox tokens: whether its scopes allow all that a token allows, which
// is to read a mailbox's messages and codes, and to change and destroy it.
func (k *Key) MayHoldTokens() bool {
	return k.has(MessagesRead) && k.has(OTPRead) && k.has(MailboxesWrite)
}

func (k *Key) has(s Scope) bool { return slices.Contains(k.Scopes, s) }
