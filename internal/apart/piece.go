package apart

import (
	"unicode"
	"unicode/utf8"
)

// MinCode is how many letters and digits a code has at least.
const MinCode = 4

// MaxPiece bounds how much of a word is looked at, in characters.
const MaxPiece = 16

// Piece is a run of letters and digits at one side of the border between two elements.
type Piece struct {
	Size                  int
	digits, upper, small  int
	startDigit, lastDigit bool
	startUpper, lastSmall bool
}

// PieceOf returns the run that a text begins with.
func PieceOf(s string) (p Piece) {
	for p.Size < MaxPiece && s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if !p.Add(r) {
			break
		}
		s = s[n:]
	}
	return p
}

// Add adds a letter or digit. It returns false for what ends the run: the scripts that put no spaces between words do as well.
func (p *Piece) Add(r rune) bool {
	digit := isDigit(r)
	switch {
	case digit:
		p.digits++
	case !InWord(r) || unicode.IsDigit(r):
		return false
	case unicode.IsUpper(r):
		p.upper++
	default:
		p.small++
	}
	if p.Size++; p.Size == 1 {
		p.startDigit, p.startUpper = digit, unicode.IsUpper(r)
	}
	p.lastDigit, p.lastSmall = digit, !digit && !unicode.IsUpper(r)
	return true
}

// Parts reports whether a run of letters and digits, of whose end so many stand in the element that was open last, is another word or
// number than the piece that follows in another element: digits beside letters, a word beside a code, a number beside as many digits
// as a code has. Letters and digits that each have an element of their own, or two by two, are one, and so are parts of a number.
func (p *Piece) Parts(single int, next Piece) bool {
	const pair, full = 2, 6
	switch {
	case next.Size == 0 || p.Size == 0:
		return false
	case p.lastDigit != next.startDigit:
		return single != next.Size || single > pair
	case next.startDigit:
		return single >= full || next.Size >= full
	case next.word():
		return p.code()
	}
	return p.word() && p.lastSmall && next.startUpper && (next.code() || next.Size == 1)
}

// BeginsWithDigit and EndsInDigit tell about the first and the last character.
func (p *Piece) BeginsWithDigit() bool { return p.startDigit }

// EndsInDigit is described with [Piece.BeginsWithDigit].
func (p *Piece) EndsInDigit() bool { return p.lastDigit }

// word reports whether it is a word of a sentence or label.
func (p *Piece) word() bool { return p.digits == 0 && p.small > 0 && p.Size > 1 }

// code reports whether it may be a code.
func (p *Piece) code() bool { return p.Size >= MinCode && (p.digits > 0 || p.small == 0) }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// InWord reports whether a character is a digit, or a letter of a script that puts spaces between words.
func InWord(r rune) bool {
	switch {
	case isDigit(r), 'a' <= r|0x20 && r|0x20 <= 'z':
		return true
	case r < utf8.RuneSelf:
		return false
	}
	return unicode.IsDigit(r) || !Dense(r) && (unicode.IsLetter(r) || unicode.In(r, unicode.Mn, unicode.Mc))
}

// Dense reports the letters and marks of scripts that put no spaces between words.
func Dense(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, // Thai, Lao
		r >= 0x1000 && r <= 0x109F,   // Myanmar
		r >= 0x1780 && r <= 0x17FF,   // Khmer
		r >= 0x1100 && r <= 0x11FF,   // Hangul letters
		r >= 0x3040 && r <= 0x30FF,   // kana
		r >= 0x3105 && r <= 0xA4CF,   // Bopomofo, Han, Yi
		r >= 0xAC00 && r <= 0xD7AF,   // Hangul
		r >= 0xF900 && r <= 0xFAFF,   // Han
		r >= 0xFF66 && r <= 0xFFDC,   // half-width kana and Hangul
		r >= 0x20000 && r <= 0x3FFFF: // Han
		return r != 0x0E3F && unicode.In(r, unicode.L, unicode.M)
	}
	return r == 0x3005 || r == 0x3006
}
