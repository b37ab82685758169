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
	memoPrefix = "GB"
	// The alphabet is without 0 and O, 1, I and L, 2 and Z, 5 and S, 6 and G, 8 and B, U and V.
	memoAlphabet = "3479ACDEFHJKMNPQRTWXY"
	memoLength   = len(memoPrefix) + 8
)

// newMemo returns one of 38 billion memos at random. It is not unique: insertOrderTx tries another one if an order has
// it already. An octet is used only if it is below the largest multiple of the alphabet's size, so that all characters
// are equally likely.
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

// textMax bounds how many octets of a text are searched. Banks transmit a few hundred, and each memo found is looked
// up. More would let one callback cause many reads. Text beyond it is ignored, even if a memo is there.
const textMax = 4 << 10

// memosIn returns what has the form of a memo in a text, without duplicates and in the text's order. The text is
// searched in upper case with everything but letters and digits removed.
//
// A memo is found wherever it begins, also within a longer word, since banks join words. So text that only looks like a
// memo can be returned; the caller looks each of them up.
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

// isMemo reports whether all characters of a text after the prefix are of the alphabet. The text has at least the
// length of the prefix.
func isMemo(text string) bool {
	return strings.Trim(text[len(memoPrefix):], memoAlphabet) == ""
}
