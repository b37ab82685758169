package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong with the configuration.
type Error struct {
	Key    string // the dotted key; empty when the fault is not that of a key
	Value  string // the value as written, quoted, with secrets masked; empty when there is none to show
	Origin string // file:line, the environment variable, "command line" or "default"
	Reason string // what is wrong and what to do
}

// Error is one line: origin, key, value, reason.
func (e *Error) Error() string {
	var parts []string
	if e.Origin != "" {
		parts = append(parts, e.Origin)
	}
	switch {
	case e.Key != "" && e.Value != "":
		parts = append(parts, e.Key+" = "+e.Value)
	case e.Key != "":
		parts = append(parts, e.Key)
	}
	return strings.Join(append(parts, e.Reason), ": ")
}

// shownMax bounds how much of a bad value an error repeats.
const shownMax = 80

// shown quotes a value for an error line.
func shown(value string) string {
	if len(value) > shownMax {
		value = value[:shownMax] + "…"
	}
	return strconv.Quote(value)
}

// loader carries a configuration through its sources and collects what is wrong with it.
type loader struct {
	config *Config
	table  *table
	errs   []error
}

func (l *loader) err() error { return errors.Join(l.errs...) }

func (l *loader) fail(e *Error) { l.errs = append(l.errs, e) }

// reject reports a value that could not be set.
func (l *loader) reject(s *setting, value, origin string, reason error) {
	s.failed = true
	e := &Error{Key: s.key, Origin: origin, Value: shown(value), Reason: reason.Error()}
	if s.secret() {
		e.Value = shown(Secret(value).String())
	}
	l.fail(e)
}

// set gives s the text, or reports why it cannot be had.
func (l *loader) set(s *setting, text, origin string) {
	if err := s.setText(text); err != nil {
		l.reject(s, text, origin, err)
		return
	}
	s.origin = origin
}

// unknown reports a name that is no key, with the nearest of the known names.
func (l *loader) unknown(name, origin, kind string, known []string) {
	reason := "unknown " + kind
	if near := nearest(name, known); near != "" {
		reason += "; did you mean " + near + "?"
	}
	if printed := strconv.Quote(name); printed != `"`+name+`"` || len(name) > shownMax {
		name = shown(name)
	}
	l.fail(&Error{Key: name, Origin: origin, Reason: reason})
}

// nearest finds the known name that is a typing mistake away from name, or nothing.
func nearest(name string, known []string) string {
	best, least := "", min(len(name)/3, 4)+1
	if len(name) > shownMax {
		return ""
	}
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b in octets.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
