package wallet

import (
	"crypto/rand"
	"slices"
	"strings"
	"unicode"
)

// A memo is GB and eight characters (decisions §2). Banks cut texts down to letters and digits, change their case and put
// other text around them, and people copy memos by hand: so there is no character in it that looks like another, and no
// G and no B after the beginning, so that one memo never holds the beginning of another.
const (
	memoPrefix   = "GB"
	memoAlphabet = "3479ACDEFHJKMNPQRTWXY"
	memoLength   = len(memoPrefix) + 8
)

// newMemo is a memo by chance: one of 38 thousand million.
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

// textMax bounds how much of a text is looked at, in octets. Banks carry a few hundred, and each memo in it is looked up.
const textMax = 4 << 10

// memosIn finds what has the form of a memo in a text, each once, in the order they stand: in upper case, with everything
// but letters and digits removed.
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
