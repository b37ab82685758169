package wallet

import (
	"crypto/rand"
	"slices"
	"strings"
	"unicode"
)

// A memo is GB and eight characters of memoAlphabet. Banks remove everything but letters and digits from a text, change
// its case and add other text, and people copy memos by hand. So the alphabet has no characters that look alike, and
// neither G nor B, so that no memo contains the beginning of another one.
const (
	memoPrefix = "GB"
	// The alphabet is without 0 and O, 1, I and L, 2 and Z, 5 and S, 6 and G, 8 and B, U and V.
	memoAlphabet = "3479ACDEFHJKMNPQRTWXY"
	memoLength   = len(memoPrefix) + 8
)

// newMemo returns one of 38 billion memos at random. It may be in use: insertOrderTx tries another one if an order has it
// already. An octet is used only if it is below the largest multiple of the alphabet's size, so that all characters
// are equally likely.
func newMemo() string {
	memo := []byte(memoPrefix)
	const limit = 256 - 256%len(memoAlphabet) // octets from here on would favour the first characters
	for octet := make([]byte, 1); len(memo) < memoLength; {
		rand.Read(octet) // never fails, as crypto/rand documents
		if n := int(octet[0]); n < limit {
			memo = append(memo, memoAlphabet[n%len(memoAlphabet)])
		}
	}
	return string(memo)
}

// textMax is how many octets of a text are searched; the rest is ignored. Banks transmit a few hundred octets. Each memo
// found is looked up in the database, so without a bound one callback could cause many reads.
const textMax = 4 << 10

// findMemos returns the parts of a text that have the form of a memo, in their order and without duplicates. It ignores
// case and everything but letters and digits.
//
// Since banks join words, it also finds memos within longer words. So it may return text that only looks like a memo; the
// caller looks up each of them.
func findMemos(text string) []string {
	text = text[:min(len(text), textMax)]
	normalized := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, text)
	var found []string
	for at := 0; ; at++ {
		offset := strings.Index(normalized[at:], memoPrefix)
		if offset < 0 {
			return found
		}
		if at += offset; len(normalized)-at < memoLength {
			return found
		}
		if memo := normalized[at : at+memoLength]; isMemo(memo) && !slices.Contains(found, memo) {
			found = append(found, memo)
		}
	}
}

// isMemo reports whether the part of a text after the prefix consists of characters of memoAlphabet. The text must be at
// least as long as the prefix.
func isMemo(text string) bool {
	return strings.Trim(text[len(memoPrefix):], memoAlphabet) == ""
}
