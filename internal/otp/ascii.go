package otp

import "slices"

// glyph is what is known of a folded ASCII rune. Most mails are hardly more
// than ASCII, and this small table stays in the processor's nearest cache.
type glyph struct {
	low   byte // folded
	key   byte // as the trie knows it
	class script
}

// glyphs tabulates the ASCII part of an alphabet.
func (x *lexicon) glyphs() (g [128]glyph) {
	for r := range rune(len(g)) {
		g[r] = glyph{low: byte(x.fold(r)), key: byte(x.key(r)), class: x.classOf(r)}
	}
	return g
}

// ascii writes the run of printable ASCII and spaces that a text begins with,
// as far as the part has room, and without ampersands, which mean something in
// HTML. It answers the run's length and whether there is ink in it.
func (p *page) ascii(s string) (length int, ink bool) {
	n := len(p.low)
	room := min(len(s), p.limit-n)
	if room <= 0 {
		return 0, false
	}
	p.raw, p.low = slices.Grow(p.raw, room), slices.Grow(p.low, room)
	raw, low := p.raw[:n+room], p.low[:n+room]
	spaced := n == p.begin || low[n-1] == ' ' || low[n-1] == cellBreak
	i, table := 0, &p.x.ascii
	for ; i < room; i++ {
		c := s[i]
		if c-'!' <= '~'-'!' && c != '&' {
			raw[n], low[n] = rune(c), rune(table[c].low)
			n++
			spaced, ink = false, true
		} else if c != ' ' {
			break
		} else if !spaced {
			raw[n], low[n] = ' ', ' '
			n++
			spaced = true
		}
	}
	p.raw, p.low = raw[:n], low[:n]
	p.unlinked = p.unlinked || !p.inLink && ink
	return i, ink
}
