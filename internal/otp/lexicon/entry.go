package lexicon

import (
	"encoding/binary"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// entries says where in a text a phrase may begin, so that the trie is hardly
// walked in vain. Most phrases begin with a word, which has to be there as a
// whole or, where a star follows, as the beginning of one. The few that may
// begin inside a word end with it, or are long. All is told by the tags of the
// runes, of which a register holds eight.
type entries struct {
	whole  [1 << 11]uint64 // first words, by eight letters and their length
	heads  [3]bitset       // first words that a star goes on from, by four letters, five, or six
	short  bitset          // and those of fewer
	four   bitset          // the first four letters of the former
	two    pairs           // the first two of the latter
	tails  bitset          // first words that may stand inside a word, by their last three letters
	inner  bitset          // such phrases, by four letters or signs, or three
	long   int             // how long such a first word is at least if a star goes on from it
	others pairs           // phrases that begin with no word, by two signs
}

// pairs is a set of two tags, a bit for each two.
type pairs [1 << 10]uint64

func (s *pairs) set(tags uint64)      { s[tags>>6&(1<<10-1)] |= 1 << (tags & 63) }
func (s *pairs) has(tags uint64) bool { return s[tags>>6&(1<<10-1)]>>(tags&63)&1 != 0 }

// bitset is a set of hashes.
type bitset [1 << 9]uint64

func (b *bitset) set(tags uint64) {
	h := page.Hash(tags)
	b[h>>23] |= 1 << (h >> 17 & 63)
}

func (b *bitset) has(tags uint64) bool {
	h := page.Hash(tags)
	return b[h>>23]>>(h>>17&63)&1 != 0
}

// wholeBits says where in entries.whole a word stands: two bits of one of its
// elements, so that few other words seem to be there.
func wholeBits(tags uint64, letters int) (at uint32, mask uint64) {
	h := page.Hash(tags ^ uint64(letters)<<56)
	return h >> 21, 1<<(h>>15&63) | 1<<(h>>9&63)
}

// add notes how a phrase begins: its keys up to the first star, how many of them
// are the letters of a word, whether the star is in that word, and whether
// letters may stand before it.
func (e *entries) add(keys []rune, letters int, open, left bool) {
	var b [8]byte
	for i, k := range keys[:min(len(keys), len(b))] {
		b[i] = page.Tag(k)
	}
	tags := binary.LittleEndian.Uint64(b[:])
	switch {
	case letters == 0:
		e.addOther(tags, len(keys))
	case open && letters < 4:
		e.short.set(page.FirstTags(tags, letters))
		e.two.set(tags)
	case open:
		e.four.set(page.FirstTags(tags, 4))
		n := min(letters, 6)
		e.heads[n-4].set(page.FirstTags(tags, n))
	default:
		at, mask := wholeBits(page.FirstTags(tags, min(letters, 8)), letters)
		e.whole[at] |= mask
	}
	if !left || letters < minHead {
		return
	}
	e.inner.set(page.FirstTags(tags, 4))
	if open {
		e.long = min(e.long, letters)
		return
	}
	var end uint64
	for i, k := range keys[letters-minHead : letters] {
		end |= uint64(page.Tag(k)) << (8 * i)
	}
	e.tails.set(end)
}

// mayBegin reports whether a phrase may begin with a word, of which the tags are
// those of its first letters.
func (e *entries) mayBegin(tags uint64, letters int) bool {
	at, mask := wholeBits(tags, letters)
	return e.whole[at]&mask == mask || e.four.has(page.FirstTags(tags, 4)) && e.mayHaveStar(tags) ||
		e.two.has(tags) && (e.short.has(page.FirstTags(tags, 3)) || e.short.has(page.FirstTags(tags, 2)))
}

// mayHaveStar reports whether a star goes on from the first letters of a word.
func (e *entries) mayHaveStar(tags uint64) bool {
	return e.heads[0].has(page.FirstTags(tags, 4)) || e.heads[1].has(page.FirstTags(tags, 5)) || e.heads[2].has(page.FirstTags(tags, 6))
}

// minInside says how many letters of a word there have to be at least where a
// phrase begins inside it, and 0 if none does.
func (e *entries) minInside(end uint64, letters int) int {
	switch {
	case letters <= minHead:
		return 0
	case e.tails.has(end):
		return minHead
	case letters > e.long:
		return e.long
	}
	return 0
}

// mayBeginInside reports whether a phrase may begin with such letters inside a word.
func (e *entries) mayBeginInside(tags uint64) bool {
	return e.inner.has(page.FirstTags(tags, 4)) || e.inner.has(page.FirstTags(tags, 3))
}

// addOther notes how a phrase begins that begins with no word. Whatever may
// follow one of a single sign.
func (e *entries) addOther(tags uint64, signs int) {
	if signs > 1 {
		e.others.set(tags)
		return
	}
	for second := range uint64(1 << 8) {
		e.addOther(tags&0xFF|second<<8, 2)
	}
}

// mayBeginOther reports whether a phrase that begins with no word may begin with such
// signs.
func (e *entries) mayBeginOther(tags uint64) bool {
	return e.others.has(tags)
}
