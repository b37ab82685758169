package page

import (
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/apart"
)

// Where one element ends and another begins, nothing in the source may part two texts that
// a reader sees apart, or parts a code that is set letter by letter and is read as one.

// joint is where the text that was written last ends, and what has opened or closed since.
type joint struct {
	element int  // the number of the element in which that text stands, 0 behind an image
	from    int  // where the text begins
	apart   bool // a box lies in between: padding, a button, an item of a flexible row
}

// join is called before a text is written. It inserts a gap where the text is seen apart
// from what stands before it, or where a code meets a word.
func (h *htmlReader) join(s string) {
	here := h.elementNumber()
	if s[0] <= ' ' {
		if isBlank(s) {
			return
		}
		h.last = joint{element: here, from: len(h.p.Raw)}
		return
	}
	last, n := h.last, len(h.p.Raw)
	h.last = joint{element: here, from: n}
	switch {
	case n == h.p.begin, !last.apart && last.element == here:
	case h.p.Raw[n-1] == ' ':
		// Boxes of a letter each are one code, also where spaces part them in the source.
		if last.apart && h.p.isAfterSingle(n-1) && apart.PieceOf(s).Size == 1 {
			h.p.writeGap(CellBreak)
		}
	case !h.p.inWord(n - 1):
	case last.apart:
		if apart.PieceOf(s).Size > 0 {
			h.p.writeGap(CellBreak)
		}
	case h.p.isSeparate(last.from, apart.PieceOf(s)):
		h.p.writeGap(' ')
	}
}

// elementNumber is that of the innermost open element.
func (h *htmlReader) elementNumber() int {
	if len(h.stack) == 0 {
		return -1
	}
	return h.stack[len(h.stack)-1].number
}

// isBlank reports whether a text has nothing to be seen.
func isBlank(s string) bool {
	for i := range len(s) {
		if s[i] > ' ' {
			return false
		}
	}
	return true
}

// inWord reports whether a rune is a letter of a script with spaces, or a digit.
func (p *Page) inWord(i int) bool {
	return p.Letters.ClassOf(p.Letters.Fold(p.Raw[i]))&(Spaced|Digit) != 0
}

// runStart is where the run of letters and digits begins that ends the page, as far as a place.
func (p *Page) runStart(from int) int {
	i := len(p.Raw)
	for i > max(from, p.begin, len(p.Raw)-apart.MaxPiece) && p.inWord(i-1) {
		i--
	}
	return i
}

// isAfterSingle reports whether a single letter or digit stands before a place.
func (p *Page) isAfterSingle(i int) bool {
	return i > p.begin && p.inWord(i-1) && (i-1 == p.begin || !p.inWord(i-2))
}

// isSeparate reports whether the run that the page ends with, of which the element that was open
// last has written what begins at from, is another word or number than the piece that
// comes next.
func (p *Page) isSeparate(from int, next apart.Piece) bool {
	var run apart.Piece
	for _, r := range p.Raw[p.runStart(p.begin):] {
		run.Add(r)
	}
	return run.Parts(len(p.Raw)-p.runStart(from), next)
}

// isNoteMark reports whether a raised text is the mark of a note or an exponent: a few digits or
// signs, which are no part of the number beside them.
func isNoteMark(s string) bool {
	const most = 5
	if len(s) > most {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || isAlpha(c) || c == '&' {
			return false
		}
	}
	return true
}
