package mailcheck

import (
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// Limits of the comparison of two texts.
const (
	maxCompared = 256 << 10 // octets of each
	alike       = 0.5       // the share of words in common from which on texts say the same
)

// differs reports whether text says something other than html: if they have few words in common, or if each has a number of four to ten
// digits, such as a code, that the other does not have. Addresses of links do not count, since HTML hides them.
func differs(text, html string) bool {
	a, b := words(text), words(sanitize.Text(html))
	if a.total == 0 && b.total == 0 {
		return false
	}
	common := 0
	for word, n := range a.counts {
		common += min(n, b.counts[word])
	}
	if float64(2*common) < alike*float64(a.total+b.total) {
		return true
	}
	return a.hasOwnNumber(b) && b.hasOwnNumber(a)
}

// bag has the words of a text.
type bag struct {
	counts map[string]int
	total  int
}

// hasOwnNumber reports whether b has a number that other does not have.
func (b bag) hasOwnNumber(other bag) bool {
	for word := range b.counts {
		if isNumber(word) && other.counts[word] == 0 {
			return true
		}
	}
	return false
}

func (b *bag) add(word string) {
	if word == "" {
		return
	}
	word = strings.ToLower(word)
	b.counts[word]++
	b.total++
}

// isNumber reports whether a word has four to ten digits and nothing else.
func isNumber(word string) bool {
	if len(word) < 4 || len(word) > 10 {
		return false
	}
	return strings.Trim(word, "0123456789") == ""
}

// words returns the words of a text: runs of letters and digits, and single letters of scripts that set no spaces.
func words(text string) bag {
	b := bag{counts: make(map[string]int)}
	text = strings.ToValidUTF8(text[:min(len(text), maxCompared)], "")
	for field := range strings.FieldsSeq(text) {
		if strings.Contains(field, "://") || strings.Contains(field, "@") && strings.Contains(field, ".") {
			continue
		}
		start := 0
		for i, r := range field {
			switch {
			case unspaced(r):
				b.add(field[start:i])
				start = i + len(string(r))
				b.add(string(r))
			case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r):
				b.add(field[start:i])
				start = i + len(string(r))
			}
		}
		b.add(field[min(start, len(field)):])
	}
	return b
}

func unspaced(r rune) bool {
	return r > 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
