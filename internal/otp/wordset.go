package otp

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// wantedWords stand in the addresses of links that verify or sign in.
var wantedWords = newWordSet("verif", "confirm", "activat", "magic", "signin", "sign-in", "sign_in", "login", "log-in", "auth", "validat", "reset",
	"passwordless", "otp", "token=", "code=", "optin", "opt-in", "aktiv", "valider", "bestaet", "potvrd", "invit", "recover", "unlock", "pwreset", "passw")

// tokenWords stand in the addresses of links that are for one person.
var tokenWords = newWordSet("token", "key=", "code=", "hash")

// wordSet is a set of at most 32 words in small letters that are looked for all
// at once: which of them have a letter first, and which second, are a bit each.
type wordSet struct {
	words         []string
	first, second [32]uint32
}

func newWordSet(words ...string) *wordSet {
	s := &wordSet{words: words}
	for k, w := range words {
		s.first[w[0]&31] |= 1 << k
		s.second[w[1]&31] |= 1 << k
	}
	return s
}

// count counts the words that a text has in it, in capitals or not.
func (s *wordSet) count(text string) int {
	found, all := s.find(text)
	if all >= utf8.RuneSelf {
		found, _ = s.find(strings.ToLower(text))
	}
	return bits.OnesCount32(found)
}

// find returns which words a text has in it, and the bits of all its bytes.
func (s *wordSet) find(text string) (found uint32, all byte) {
	for i := range len(text) - 1 {
		all |= text[i]
		for m := s.first[text[i]&31] & s.second[text[i+1]&31]; m != 0; m &= m - 1 {
			if k := bits.TrailingZeros32(m); hasPrefixFold(text[i:], s.words[k]) {
				found |= 1 << k
			}
		}
	}
	return found, all
}

// hasPrefixFold reports whether a text begins with a word in small letters, in
// ASCII capitals or not.
func hasPrefixFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if c := text[i]; c != word[i] && (c < 'A' || c > 'Z' || c|0x20 != word[i]) {
			return false
		}
	}
	return true
}
