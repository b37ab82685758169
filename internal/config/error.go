package config

import (
	"slices"
	"strconv"
	"strings"
)

// Error is one fault of the configuration. Its text is one line for an operator.
type Error struct {
	Key    string // dotted key; empty if the fault is not that of a key
	Value  string // the value as written, quoted, a secret masked; empty if there is none to show
	Origin string // file:line, the environment variable, "command line" or "default"
	Reason string // what is wrong and what to do about it
}

// Error returns one line: origin, key, value, reason.
func (e *Error) Error() string {
	subject := e.Key
	if e.Key != "" && e.Value != "" {
		subject += " = " + e.Value
	}
	parts := slices.DeleteFunc([]string{e.Origin, subject, e.Reason}, func(part string) bool { return part == "" })
	return strings.Join(parts, ": ")
}

// quotedMax is how many octets of a wrong value an error repeats.
const quotedMax = 80 // a value that was pasted by mistake may be long

// quote returns a value as a Go string literal for an error, shortened to quotedMax octets.
func quote(value string) string {
	if len(value) > quotedMax {
		value = value[:quotedMax] + "…"
	}
	return strconv.Quote(value)
}

// unknownKey returns the error for a key that does not exist, with the known one that was probably meant.
func unknownKey(name, origin string, known []string) *Error {
	reason := "unknown key"
	if meant := nearest(name, known); meant != "" {
		reason += "; did you mean " + meant + "?"
	}
	return unknownName(name, origin, reason)
}

// unknownVariable is unknownKey for a variable. The beginning that all variables have does not make them alike.
func unknownVariable(name string, known []string) *Error {
	ends := make([]string, len(known))
	for i, k := range known {
		ends[i] = strings.TrimPrefix(k, envPrefix)
	}
	reason := "unknown variable; unset it, or use one that docs/config.md lists"
	if meant := nearest(strings.TrimPrefix(name, envPrefix), ends); meant != "" {
		reason = "unknown variable; did you mean " + envPrefix + meant + "?"
	}
	return unknownName(name, "environment", reason)
}

// unknownName returns the error for a name that does not exist.
func unknownName(name, origin, reason string) *Error {
	if quoted := quote(name); quoted != `"`+name+`"` { // it is longer than quotedMax, or has characters that must be escaped
		name = quoted
	}
	return &Error{Key: name, Origin: origin, Reason: reason}
}

// nearest returns the known name that name is probably a misspelling of, or "".
func nearest(name string, known []string) string {
	best, least := "", min(len(name)/3, 4)+1
	if len(name) > quotedMax {
		return ""
	}
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of a and b in octets.
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
