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

// rule is a filter ready for use. The patterns' sizes are what a step of work costs: the matching machine does at
// most so many instructions an octet.
type rule struct {
	filter                id.Filter
	domain                id.Domain
	version               int64          // of the filter: when it was changed last
	from, subject         *regexp.Regexp // nil: every mail passes
	extract               *otp.Rule
	fromSize, subjectSize int
	textSize              int
}

// check says whether the patterns can be used, and returns their size. Error: filter.invalid_regex.
func (p Patterns) check() (size int, err error) {
	r, err := p.compile()
	if err != nil {
		return 0, invalid(err, "")
	}
	return r.size(), nil
}

// invalid makes a fault in a pattern a problem that tells its owner where it is; where is what the patterns lie below in
// the request's body.
func invalid(err error, where string) error {
	e, ok := errors.AsType[*otp.PatternError](err)
	if !ok {
		return err
	}
	return &problem.Problem{Code: problem.FilterInvalidRegex, Fields: []problem.Field{{
		Pointer: where + "/" + e.Field, Message: fmt.Sprintf("%s, at position %d", e.Reason, e.Position),
	}}}
}

func (r *rule) size() int { return r.fromSize + r.subjectSize + r.textSize }

// compile makes a rule of patterns. Error: *otp.PatternError.
func (p Patterns) compile() (*rule, error) {
	if _, err := otp.CompileRule(p.From, p.Subject, p.Extract); err != nil {
		return nil, err
	}
	// What selects a mail and what extracts from it are kept apart, since the work of each is bounded by itself.
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

// selector compiles what a sender or a subject is searched with.
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

// instructions counts what a pattern compiles to.
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
