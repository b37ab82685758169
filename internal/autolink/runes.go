package autolink

import "unicode"

func isAlnum(c byte) bool { return '0' <= c && c <= '9' || isLetter(c) }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isInvisible reports characters without a glyph. Senders put them into long words, as places where a line may break, and
// around names. No address has them; they are removed where they stand in one.
func isInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true // letters and marks by their category, that show nothing
	case 0x180b <= r && r <= 0x180f, 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef:
		return true // variation selectors
	}
	return unicode.Is(unicode.Cf, r)
}

// isJoiner reports the two invisible characters that a name of a host may need (RFC 5892 Appendix A).
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

// isWord reports whether a character beyond ASCII may be part of an address (RFC 3987 §2.2), and is no punctuation.
func isWord(r rune) bool {
	return r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// isUnspaced reports the letters of scripts whose words are not separated by spaces, and those of Korean, whose particles
// follow a word without one. Full-width forms are among them.
func isUnspaced(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r <= 0xfff, 0x1000 <= r && r <= 0x109f, 0x1780 <= r && r <= 0x17ff: // Thai, Lao, Tibetan, Myanmar, Khmer
		return true
	case 0x1100 <= r && r <= 0x11ff, 0xa960 <= r && r <= 0xa97f, 0xac00 <= r && r <= 0xd7ff: // Hangul
		return true
	case 0x2e80 <= r && r <= 0x9fff, 0xf900 <= r && r <= 0xfaff, 0xff00 <= r && r <= 0xffef: // Chinese and Japanese
		return true
	}
	return 0x1aff0 <= r && r <= 0x1b16f || 0x20000 <= r && r <= 0x3ffff
}
