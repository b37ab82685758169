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

// rule is a compiled filter. The size of a pattern is its number of instructions, the maximum work per octet. It is
// immutable and may be used by several goroutines.
type rule struct {
	filter                id.Filter
	domain                id.Domain
	version               int64          // of the filter: when it was last changed
	from, subject         *regexp.Regexp // nil: matches every mail
	extract               *otp.Rule
	fromSize, subjectSize int
	textSize              int
}

// check compiles the patterns and returns their size. The pointers of the error are /from, /subject and /extract of the
// body. Error: filter.invalid_regex.
func (p Patterns) check() (size int, err error) {
	r, err := p.compile()
	if err != nil {
		return 0, invalid(err, "")
	}
	return r.size(), nil
}

// invalid returns the problem of an invalid pattern; where is the pointer to the patterns in the request's body. Other
// errors are returned as they are.
func invalid(err error, where string) error {
	e, ok := errors.AsType[*otp.PatternError](err)
	if !ok {
		return err
	}
	return &problem.Problem{Code: problem.FilterInvalidRegex, Fields: []problem.Field{{
		Pointer: where + "/" + e.Field, Message: fmt.Sprintf("%s, at position %d", e.Reason, e.Position),
	}}}
}

// size returns the size of all three patterns.
func (r *rule) size() int { return r.fromSize + r.subjectSize + r.textSize }

// compile compiles patterns. Error: *otp.PatternError.
func (p Patterns) compile() (*rule, error) {
	if _, err := otp.CompileRule(p.From, p.Subject, p.Extract); err != nil {
		return nil, err
	}
	// The selecting and the extracting patterns are compiled separately, since their work has separate bounds.
	extract, err := otp.CompileRule("", "", p.Extract)
	if err != nil {
		return nil, err
	}
	r := &rule{extract: extract}
	if r.from, r.fromSize, err = selector(p.From); err != nil {
		return nil, err
	}
	if r.subject, r.subjectSize, err = selector(p.Subject); err != nil {
		return nil, err
	}
	r.textSize, err = instructions(p.Extract)
	return r, err
}

// selector compiles the pattern for a sender or a subject. An empty pattern gives nil. The size is that of the pattern
// with the flag for case, which adds alternatives.
func selector(pattern string) (*regexp.Regexp, int, error) {
	if pattern == "" {
		return nil, 0, nil
	}
	pattern = "(?i)" + pattern
	size, err := instructions(pattern)
	if err != nil {
		return nil, 0, err
	}
	re, err := regexp.Compile(pattern)
	return re, size, err
}

// instructions returns how many instructions a pattern compiles to. It compiles as package regexp does. The flags are
// those of regexp.Compile.
func instructions(pattern string) (int, error) {
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
