package otp

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Programs break the lines of a plain text where they grow too long, in the midst
// of a sentence. To a reader such a break is a space.

// The lengths that programs break lines at.
const (
	minWidth = 35
	maxWidth = 100
)

// widthOf is the length that the lines of a text were kept to, in runes, or 0 if
// they were not. Addresses cannot be broken, and say nothing.
func widthOf(s string) (width int) {
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) <= width || strings.Contains(line, "://") {
			continue
		}
		if width = max(width, utf8.RuneCountInString(strings.TrimSpace(line))); width > maxWidth {
			return 0
		}
	}
	if width < minWidth {
		return 0
	}
	return width
}

// runsOn says whether a line goes on in the next: it ends no sentence, the first
// word of the next would have made it too long, and that is not a number by itself.
func runsOn(line, rest string, width int) bool {
	line = strings.TrimSpace(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	if line == "" || strings.ContainsRune(".:!?;-=_*。！？：", last) {
		return false
	}
	next, _, _ := strings.Cut(rest[:min(len(rest), 4*maxWidth)], "\n")
	next = strings.TrimSpace(next)
	word, _, more := strings.Cut(next, " ")
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case !unicode.IsLetter(first) && !unicode.IsDigit(first), strings.HasSuffix(word, ":"):
		return false
	case !more && !strings.ContainsFunc(word, unicode.IsLetter) && unicode.IsDigit(rune(word[len(word)-1])):
		return false
	}
	return utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width
}
