// Package wildcard matches texts with patterns in which * stands for any characters: recipients that are blocked, and those
// that the operator's relay may be used for.
package wildcard

import "strings"

// Match reports whether a text matches a pattern, in which * stands for any number of characters. On a mismatch it
// backtracks to the last * only, so that its time is at most proportional to the product of the lengths.
func Match(pattern, text string) bool {
	star, resume := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			resume++
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
