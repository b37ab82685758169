package netguard

import "fmt"

// Rule names the rule that a URL violates.
type Rule string

// The rules.
const (
	RuleForm     Rule = "form"     // not a URL, or one that some would read differently
	RuleScheme   Rule = "scheme"   // not https
	RuleUserinfo Rule = "userinfo" // a user or a password in it
	RuleFragment Rule = "fragment" // a fragment, which is never sent
	RulePort     Rule = "port"     // not one of the ports
	RuleHost     Rule = "host"     // a host that is no public name and no address in its plain form
	RuleLookup   Rule = "lookup"   // a host whose addresses cannot be had
	RuleAddress  Rule = "address"  // an address that is not public
)

// ForbiddenError is the error for a URL that may not be used. Its text is a sentence for the user who chose the URL.
// It contains neither the URL nor an address, so that users cannot learn what the service's own DNS answers.
type ForbiddenError struct {
	Rule Rule
	text string
}

// Error returns the sentence, such as "the scheme must be https".
func (e *ForbiddenError) Error() string { return e.text }

// forbidden returns a *ForbiddenError.
func forbidden(r Rule, format string, args ...any) error {
	return &ForbiddenError{Rule: r, text: fmt.Sprintf(format, args...)}
}
