package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/apart"
)

// joint is where the text that was written last ends, and what has begun or ended since.
type joint struct {
	element int  // the number of the element in which that text stands, 0 behind an image
	from    int  // where it begins in the output
	raised  bool // it stands above or below the line
	apart   bool // a box lies in between: a button, padding, an item of a flexible row
}

// notText notes that something other than text is shown.
func (r *textReader) notText() { r.last.element = 0 }

// setApart notes the beginning or the end of an element that is seen apart from what is around it.
func (r *textReader) setApart() { r.last.apart = true }

// arrange numbers an element, and applies what its parent says about it.
func (r *textReader) arrange(e *textElement) {
	r.opened++
	e.opened = r.opened
	if n := len(r.open); n > 0 {
		parent := &r.open[n-1]
		e.raised = e.raised || parent.raised
		if parent.items && e.look == inlineLook {
			e.look = boxLook
		}
	}
}

// join is called before a text is written. It writes a space where the text is seen apart from what stands before it, or where a number
// or code meets a word.
func (r *textReader) join(s string) {
	here := joint{from: r.out.at()}
	if n := len(r.open); n > 0 {
		here.element, here.raised = r.open[n-1].opened, r.open[n-1].raised
	} else {
		here.element = -1
	}
	first, _ := utf8.DecodeRuneInString(s)
	switch last := r.last; {
	case s == "":
		return
	case isSpace(first):
		if here.apart = last.apart; strings.TrimFunc(s, isSpace) == "" {
			return
		}
		here.apart = false
	case !r.out.goesOn():
	case r.gap(last, here, s):
		r.out.space()
	}
	r.last = here
}

// gap reports whether a space belongs between what was written last and s.
func (r *textReader) gap(last, here joint, s string) bool {
	next := apart.PieceOf(s)
	run, single := r.out.run(last.from)
	switch {
	case last.raised || here.raised:
		return last.element != here.element && raisedGap(run, next)
	case last.apart:
		return !(single == 1 && isSingle(string(r.out.from(last.from, utf8.UTFMax+1))) && isSingle(s)) && seenApart(r.out.buf, s)
	case last.element == here.element || run.Size < apart.MinCode && next.Size < apart.MinCode || r.out.look().address:
		return false
	}
	return run.Parts(single, next)
}

// raisedGap reports whether a space keeps a number and the mark of a note apart: between digits, and between a code and a letter. There is
// none in "m2" and "10th".
func raisedGap(run, next apart.Piece) bool {
	return run.EndsInDigit() && next.Size > 0 && (next.BeginsWithDigit() || run.Size >= apart.MinCode)
}

// isSingle reports whether a text is a single letter or digit.
func isSingle(s string) bool {
	s = strings.TrimFunc(s, isSpace)
	r, n := utf8.DecodeRuneInString(s)
	return n == len(s) && apart.InWord(r)
}

// seenApart reports whether a space belongs between two boxes with the texts before and after: there is none around the punctuation and the
// signs that belong to a word.
func seenApart(before []byte, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	if !isWordRune(next) && !strings.ContainsRune("([{«“„‘¿¡$€£¥₹", next) {
		return false
	}
	last, n := utf8.DecodeLastRune(before)
	switch {
	case isWordRune(last), strings.ContainsRune(")]}»”’!?;…%。！？", last):
		return true
	case last == '.' || last == ',' || last == ':':
		number, _ := utf8.DecodeLastRune(before[:len(before)-n])
		return !(unicode.IsDigit(number) && unicode.IsDigit(next))
	}
	return false
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// goesOn reports whether the next word follows the last one without white space.
func (w *textWriter) goesOn() bool {
	return len(w.buf) > 0 && w.wrote && !w.pendingSpace && w.pendingLines == 0
}

// run returns the run of letters and digits that the text ends with, and how many of them were written from a place on.
func (w *textWriter) run(from int) (p apart.Piece, single int) {
	begin, n := len(w.buf), 0
	for n < apart.MaxPiece {
		r, size := utf8.DecodeLastRune(w.buf[:begin])
		if size == 0 || !apart.InWord(r) {
			break
		}
		begin -= size
		n++
		if begin >= from {
			single = n
		}
	}
	for _, r := range string(w.buf[begin:]) {
		p.Add(r)
	}
	return p, single
}

// lastWord is what is known of the last word. Each octet of the text is looked at once, however long the word gets.
type lastWord struct {
	read    int32 // how much of the text has been looked at
	begin   int32 // of the word
	address bool  // it is a web or mail address, or the beginning of one
}

// look looks at what was written since it was called last.
func (w *textWriter) look() lastWord {
	for ; int(w.last.read) < len(w.buf); w.last.read++ {
		switch i := w.last.read; w.buf[i] {
		case ' ', '\n', '\t':
			w.last.begin, w.last.address = i+1, false
		case '@':
			w.last.address = true
		case '/':
			w.last.address = w.last.address || i-2 >= w.last.begin && w.buf[i-1] == '/' && w.buf[i-2] == ':'
		}
	}
	return w.last
}
