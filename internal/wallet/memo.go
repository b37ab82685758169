package wallet

import (
	"crypto/rand"
	"slices"
	"strings"
	"unicode"
)

// A memo is GB and eight characters. Banks reduce texts to letters and digits, change their case and add other text, and
// people copy memos by hand. So a memo has no characters that look alike, and no G or B after the beginning, so that a memo
// never contains the beginning of another.
const (
	memoPrefix   = "GB"
	memoAlphabet = "3479ACDEFHJKMNPQRTWXY"
	memoLength   = len(memoPrefix) + 8
)

// newMemo returns one of 38 billion memos at random.
func newMemo() string {
	memo := []byte(memoPrefix)
	const fair = 256 - 256%len(memoAlphabet) // octets from here on would favour the first characters
	for octet := make([]byte, 1); len(memo) < memoLength; {
		rand.Read(octet) // never fails, as crypto/rand documents
		if n := int(octet[0]); n < fair {
			memo = append(memo, memoAlphabet[n%len(memoAlphabet)])
		}
	}
	return string(memo)
}

// textMax bounds how many octets of a text are searched. Banks transmit a few hundred, and each memo found is looked up.
const textMax = 4 << 10

// memosIn returns what has the form of a memo in a text, without duplicates and in the text's order. The text is searched in
// upper case with everything but letters and digits removed.
func memosIn(text string) []string {
	text = text[:min(len(text), textMax)]
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, text)
	var found []string
	for at := 0; ; at++ {
		next := strings.Index(plain[at:], memoPrefix)
		if next < 0 {
			return found
		}
		if at += next; len(plain)-at < memoLength {
			return found
		}
		if memo := plain[at : at+memoLength]; isMemo(memo) && !slices.Contains(found, memo) {
			found = append(found, memo)
		}
	}
}

func isMemo(text string) bool {
	return strings.Trim(text[len(memoPrefix):], memoAlphabet) == ""
}
