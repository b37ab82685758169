package otp

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/truncate"
)

// The bounds of a rule. Its work on one mail is at most maxWork steps of the
// matching machine: instructions times bytes.
const (
	maxPattern      = 512     // characters of each pattern (docs/spec/filters.md#fields)
	maxInstructions = 1 << 10 // of each compiled pattern
	maxText         = 64 << 10
	maxWork         = 4 << 20
	maxRuleCode     = 64 // characters of the code (docs/spec/filters.md#fields)
)

// Step is how far a rule got with a mail.
type Step string

// The steps of a rule, in order (docs/spec/filters.md#fields).
const (
	StepFrom    Step = "from"    // the sender does not match
	StepSubject Step = "subject" // the subject does not match
	StepExtract Step = "extract" // no code was extracted
	StepMatched Step = "matched"
)

// PatternError tells what is wrong with a pattern of a rule, and where.
type PatternError struct {
	Field    string // fromPattern, subjectPattern or extractRegex
	Position int    // in characters, from 0
	Reason   string
}

// Error describes the fault for the author of the pattern.
func (e *PatternError) Error() string {
	return fmt.Sprintf("%s: %s at position %d", e.Field, e.Reason, e.Position)
}

// Rule is a compiled extraction filter (docs/spec/filters.md). The patterns are RE2.
type Rule struct {
	from, subject, extract *regexp.Regexp
	group                  int
	limit                  int // bytes of text that are matched
}

// CompileRule compiles a filter. The patterns for the sender and the subject
// may be empty, then they match every mail; they ignore case. The code is the
// group named code, else the first group, else the whole match. The error is
// a *PatternError.
func CompileRule(fromPattern, subjectPattern, extractRegex string) (*Rule, error) {
	r := new(Rule)
	var err error
	if r.from, _, err = compile("fromPattern", fromPattern, syntax.FoldCase); err != nil {
		return nil, err
	}
	if r.subject, _, err = compile("subjectPattern", subjectPattern, syntax.FoldCase); err != nil {
		return nil, err
	}
	if extractRegex == "" {
		return nil, &PatternError{Field: "extractRegex", Reason: "the pattern is empty"}
	}
	var size int
	if r.extract, size, err = compile("extractRegex", extractRegex, 0); err != nil {
		return nil, err
	}
	r.limit = min(maxText, maxWork/max(size, 1))
	r.group = max(0, r.extract.SubexpIndex("code"))
	if r.group == 0 && r.extract.NumSubexp() > 0 {
		r.group = 1
	}
	return r, nil
}

// Apply runs a rule over a mail: the sender's address, the subject, and the
// text. What is matched is subject, newline, text, cut at 64 KiB, or at less
// for a pattern of many instructions, so that the work is bounded. Without a
// match the code is empty and step says what did not match.
func (r *Rule) Apply(from, subject, text string) (code string, step Step) {
	if r.from != nil && !r.from.MatchString(truncate.Octets(from, maxWork/maxInstructions)) {
		return "", StepFrom
	}
	if r.subject != nil && !r.subject.MatchString(truncate.Octets(subject, maxWork/maxInstructions)) {
		return "", StepSubject
	}
	subject = truncate.Octets(subject, r.limit)
	sample := subject + "\n" + truncate.Octets(text, max(0, r.limit-len(subject)-1))
	m := r.extract.FindStringSubmatchIndex(sample)
	if m == nil || m[2*r.group] < 0 {
		return "", StepExtract
	}
	code = strings.TrimSpace(sample[m[2*r.group]:m[2*r.group+1]])
	if code == "" || utf8.RuneCountInString(code) > maxRuleCode {
		return "", StepExtract
	}
	return code, StepMatched
}

// compile compiles one pattern and counts its instructions, before it is
// expanded as well as after, since a short pattern may repeat a lot.
func compile(field, pattern string, flags syntax.Flags) (*regexp.Regexp, int, error) {
	if pattern == "" {
		return nil, 0, nil
	}
	fail := func(position int, reason string) (*regexp.Regexp, int, error) {
		return nil, 0, &PatternError{Field: field, Position: position, Reason: reason}
	}
	if utf8.RuneCountInString(pattern) > maxPattern {
		return fail(maxPattern, fmt.Sprintf("the pattern is longer than %d characters", maxPattern))
	}
	tree, err := syntax.Parse(pattern, syntax.Perl|flags)
	if err != nil {
		var e *syntax.Error
		if !errors.As(err, &e) {
			return fail(0, err.Error())
		}
		return fail(position(pattern, e), e.Code.String())
	}
	if weight(tree) > maxInstructions {
		return fail(0, "the pattern repeats too much")
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return fail(0, err.Error())
	}
	if len(prog.Inst) > maxInstructions {
		return fail(0, "the pattern repeats too much")
	}
	if flags&syntax.FoldCase != 0 {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fail(0, err.Error())
	}
	return re, len(prog.Inst), nil
}

// weight estimates the instructions of a pattern before it is expanded.
func weight(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n = min(n+weight(sub), 1<<20)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 1<<20)
}

// position is where in the pattern the fault lies.
func position(pattern string, e *syntax.Error) int {
	if e.Code == syntax.ErrMissingParen || e.Code == syntax.ErrUnexpectedParen {
		return paren(pattern)
	}
	if i := strings.Index(pattern, e.Expr); i >= 0 {
		return utf8.RuneCountInString(pattern[:i])
	}
	return 0
}

// paren finds the parenthesis that has no partner.
func paren(pattern string) int {
	var open []int
	class := false
	rs := []rune(pattern)
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; {
		case r == '\\':
			i++
		case class:
			class = r != ']' || rs[i-1] == '[' || rs[i-1] == '^' && rs[i-2] == '['
		case r == '[':
			class = true
		case r == '(':
			open = append(open, i)
		case r == ')' && len(open) == 0:
			return i
		case r == ')':
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}
