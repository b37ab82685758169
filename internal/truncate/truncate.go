// Package truncate shortens texts without splitting a character.
package truncate

import "unicode/utf8"

// Octets returns the longest prefix of text that has at most n octets and ends at the boundary of a character.
func Octets(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Runes returns the first n code points of text. An octet that is not UTF-8 counts as one.
func Runes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
