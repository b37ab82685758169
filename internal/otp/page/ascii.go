package page

import "slices"

// What a byte is to ascii.
const (
	inkByte  = iota // is seen
	gapByte         // a space
	stopByte        // neither, or an ampersand, which means something in HTML
)

// asciiBytes tells bytes apart.
func asciiBytes() (t [256]byte) {
	for c := range t {
		switch {
		case c == ' ':
			t[c] = gapByte
		case c < '!' || c > '~' || c == '&':
			t[c] = stopByte
		}
	}
	return t
}

// writeASCII writes the run of printable ASCII and spaces that a text begins with,
// as far as the part has room, and without ampersands. It returns the run's
// length and whether there is ink in it.
func (p *Page) writeASCII(s string) (length int, ink bool) {
	room := min(len(s), p.limit-len(p.Raw))
	if room <= 0 {
		return 0, false
	}
	p.Raw = slices.Grow(p.Raw, room)
	w := asciiWriter{raw: p.Raw[:len(p.Raw)+room], n: len(p.Raw)}
	if n := w.n; n == p.begin || w.raw[n-1] == ' ' || w.raw[n-1] == CellBreak {
		w.before = gapByte
	}
	s = s[:room]
	i, ended := 0, false
	for !ended {
		i += w.writeEights(s[i:])
		var n int
		n, ended = w.writeEach(s[i:min(len(s), i+8)], &p.Letters.bytes)
		i += n
		ended = ended || i == len(s)
	}
	p.Raw = w.raw[:w.n]
	p.unlinked = p.unlinked || !p.inLink && w.ink
	return i, w.ink
}

// asciiWriter writes runes from n on. A space after another is written over.
type asciiWriter struct {
	raw    []rune
	n      int
	before byte // gapByte where there is a space before
	ink    bool
}

// writeEach writes bytes one by one, and reports whether it came to one to stop at.
// Words are short, and a branch at each space would mostly be guessed wrong.
func (w *asciiWriter) writeEach(s string, table *[256]byte) (length int, ended bool) {
	n, before := w.n, w.before
	for i := range len(s) {
		b := table[s[i]]
		if b == stopByte {
			w.n, w.before = n, before
			return i, true
		}
		w.raw[n] = rune(s[i])
		n += 1 - int(b&before)
		w.ink = w.ink || b == inkByte
		before = b
	}
	w.n, w.before = n, before
	return len(s), false
}

// eightOf gives the first eight bytes of a text, the first in the lowest bits.
func eightOf(s string) uint64 {
	s = s[:8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// TopBits is the top bit of every byte of a register.
const TopBits = 0x80 * everyByte

// zeroBytes sets the top bit of each byte that is zero, if all are below 0x80.
func zeroBytes(w uint64) uint64 { return ^(w + 0x7F*everyByte) & TopBits }

// writeEights writes eight bytes at a time, as long as there is nothing to stop at
// among them and no space after another. What holds of a byte is told for all
// eight by one sum: the top bits are free to carry into.
func (w *asciiWriter) writeEights(s string) (length int) {
	to, before := w.raw[w.n:], uint64(w.before)
	for len(s)-length >= 8 && len(to)-length >= 8 {
		v := eightOf(s[length:])
		gaps := zeroBytes(v ^ ' '*everyByte)
		if v&TopBits != 0 || (v+(0x80-' ')*everyByte)&TopBits != TopBits || // beyond ASCII, or below the space
			(v+everyByte)&TopBits != 0 || zeroBytes(v^'&'*everyByte) != 0 || // DEL or an ampersand
			gaps&(gaps<<8|before<<7) != 0 {
			break
		}
		raw := to[length : length+8]
		raw[0], raw[1], raw[2], raw[3] = rune(v&0xFF), rune(v>>8&0xFF), rune(v>>16&0xFF), rune(v>>24&0xFF)
		raw[4], raw[5], raw[6], raw[7] = rune(v>>32&0xFF), rune(v>>40&0xFF), rune(v>>48&0xFF), rune(v>>56)
		before = gaps >> 63
		length += 8
	}
	w.n += length
	w.before, w.ink = byte(before), w.ink || length > 0
	return length
}
