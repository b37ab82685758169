package filter

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/problem"
)

// rule is a compiled filter. The size of a pattern is its number of instructions, which bounds the work for each octet of
// a mail. A rule is immutable and safe for concurrent use.
type rule struct {
	filter                id.Filter
	domain                id.Domain
	version               int64          // Filter.UpdatedAt in microseconds since 1970
	from, subject         *regexp.Regexp // nil: every mail matches
	extract               *otp.Rule
	fromSize, subjectSize int
	extractSize           int
}

// check compiles the patterns and returns their total size. An error points to the field of the request's body that has the
// invalid pattern, such as /extractRegex. Error: filter.invalid_regex.
func (p Patterns) check() (size int, err error) {
	r, err := p.compile()
	if err != nil {
		return 0, patternProblem(err, "")
	}
	return r.size(), nil
}

// patternProblem converts an *otp.PatternError into the problem filter.invalid_regex. pointer is the JSON pointer to the
// object that has the patterns in the request's body. Other errors are returned unchanged.
func patternProblem(err error, pointer string) error {
	e, ok := errors.AsType[*otp.PatternError](err)
	if !ok {
		return err
	}
	return &problem.Problem{Code: problem.FilterInvalidRegex, Fields: []problem.Field{{
		Pointer: pointer + "/" + e.Field, Message: fmt.Sprintf("%s, at position %d", e.Reason, e.Position),
	}}}
}

// size returns the total size of the three patterns.
func (r *rule) size() int { return r.fromSize + r.subjectSize + r.extractSize }

// compile compiles patterns. Error: *otp.PatternError.
func (p Patterns) compile() (*rule, error) {
	if _, err := otp.CompileRule(p.From, p.Subject, p.Extract); err != nil {
		return nil, err
	}
	// The patterns that select mails are compiled separately from the one that extracts the code, since their work is bounded
	// separately.
	extract, err := otp.CompileRule("", "", p.Extract)
	if err != nil {
		return nil, err
	}
	r := &rule{extract: extract}
	if r.from, r.fromSize, err = compileSelector(p.From); err != nil {
		return nil, err
	}
	if r.subject, r.subjectSize, err = compileSelector(p.Subject); err != nil {
		return nil, err
	}
	r.extractSize, err = countInstructions(p.Extract)
	return r, err
}

// compileSelector compiles the pattern for a sender or a subject, so that it ignores case, and returns its size: the flag
// that ignores case can make it larger. It returns nil for an empty pattern.
func compileSelector(pattern string) (*regexp.Regexp, int, error) {
	if pattern == "" {
		return nil, 0, nil
	}
	pattern = "(?i)" + pattern
	size, err := countInstructions(pattern)
	if err != nil {
		return nil, 0, err
	}
	re, err := regexp.Compile(pattern)
	return re, size, err
}

// countInstructions returns how many instructions a pattern compiles to. It compiles the pattern as regexp.Compile does,
// with the same flags.
func countInstructions(pattern string) (int, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}
