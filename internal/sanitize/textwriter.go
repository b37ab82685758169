package sanitize

import (
	"strings"
	"unicode/utf8"
)

// textWriter collects words with single spaces and line ends between them.
type textWriter struct {
	buf          []byte
	pendingSpace bool
	pendingLines int    // line ends to write before the next word
	wrote        bool   // a word since the last line end
	mark         string // of an item, to write before its first word
	fresh        bool   // a cell has just begun
	joins        bool   // its first block follows on the line of the cell before
	last         lastWord
}

// at returns where the next word will begin, or the white space before it.
func (w *textWriter) at() int { return len(w.buf) }

// from returns what was written from at on, at most max octets, until something else is written.
func (w *textWriter) from(at, max int) []byte {
	at = min(at, len(w.buf))
	return w.buf[at:min(at+max, len(w.buf))]
}

// cut removes what was written from at on. before is what look returned there.
func (w *textWriter) cut(at int, before lastWord) {
	if at < len(w.buf) {
		w.buf, w.last = w.buf[:at], before
		w.pendingSpace, w.wrote = true, at > 0
	}
}

func (w *textWriter) space() { w.pendingSpace = true }

// newLine makes sure that the next word begins a line.
func (w *textWriter) newLine() {
	if w.joins {
		return
	}
	if w.wrote {
		w.pendingLines = max(w.pendingLines, 1)
		w.wrote = false
	}
	w.pendingSpace = false
}

// paragraph makes sure that an empty line is before the next word. The first block of an item stays on the line of its mark.
func (w *textWriter) paragraph() {
	if w.joins {
		return
	}
	if w.fresh {
		w.newLine()
		return
	}
	if w.wrote || w.pendingLines > 0 && w.mark == "" {
		w.pendingLines = 2
	}
	w.wrote, w.pendingSpace = false, false
}

// lineBreak ends the line, even an empty one; two in a row leave one line empty, more do not add to that.
func (w *textWriter) lineBreak() {
	w.wrote, w.joins = false, false
	w.pendingLines = min(w.pendingLines+1, 2)
	w.pendingSpace = false
}

// joinLine makes the next word follow on the present line, although a block begins before it.
func (w *textWriter) joinLine() {
	w.continueLine()
	w.joins, w.pendingSpace = true, true
}

// continueLine takes back a line end that was to be written.
func (w *textWriter) continueLine() {
	if w.pendingLines > 0 && len(w.buf) > 0 {
		w.pendingLines, w.wrote = 0, true
	}
}

// words writes s with its white space collapsed.
func (w *textWriter) words(s string) {
	for s != "" {
		n := plainRun(s)
		if n > 0 {
			w.word(s[:n])
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case isSpace(r):
			w.pendingSpace = true
		case isUnseen(r, size), isJoiner(r) && (w.pendingSpace || !w.wrote):
		case r == utf8.RuneError && size == 1:
			w.word("\uFFFD")
		default:
			w.word(s[:size])
		}
		s = s[size:]
	}
}

// preserve writes a line with its white space, unless it is nothing else.
func (w *textWriter) preserve(line string) {
	if strings.TrimFunc(line, func(r rune) bool { return isSpace(r) || isFiller(r) }) == "" {
		w.pendingSpace = w.pendingSpace || line != ""
		return
	}
	w.flush()
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case r == '\t':
			w.buf = append(w.buf, '\t')
		case isSpace(r):
			w.buf = append(w.buf, ' ')
		case isUnseen(r, size):
		case r == utf8.RuneError && size == 1:
			w.buf = append(w.buf, "\uFFFD"...)
		default:
			w.buf = append(w.buf, line[:size]...)
		}
		line = line[size:]
	}
}

// plainRun is the length of the printable ASCII at the beginning of s.
func plainRun(s string) int {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return i
		}
	}
	return len(s)
}

func (w *textWriter) word(s string) {
	w.flush()
	w.buf = append(w.buf, s...)
}

// flush writes the white space and the mark that stand before the next word.
func (w *textWriter) flush() {
	switch {
	case w.pendingLines > 0:
		if len(w.buf) > 0 {
			w.buf = append(w.buf, "\n\n"[:min(w.pendingLines, 2)]...)
		}
	case w.pendingSpace && w.wrote:
		w.buf = append(w.buf, ' ')
	}
	w.buf = append(w.buf, w.mark...)
	w.pendingLines, w.pendingSpace, w.wrote, w.fresh, w.joins, w.mark = 0, false, true, false, false, ""
}

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\f', '\v', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return 0x2000 <= r && r <= 0x200a
}

// isUnseen reports characters that are left out: fillers and controls.
func isUnseen(r rune, size int) bool { return isFiller(r) || (r < ' ' || r == 0x7f) && size == 1 }

// isFiller reports characters without a glyph, which mails use to push the next words out of a preview.
func isFiller(r rune) bool {
	switch r {
	case 0xad, 0x034f, 0x061c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2060, 0xfeff:
		return true
	}
	return false
}

// isJoiner reports characters that mean something within a word only.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }
