package lexicon

import "github.com/gonebox/gonebox/internal/otp/page"

// word is a word that the page has had, and what it led to. Mails repeat most of
// theirs, and those made of rows the rows.
type word struct {
	tags  uint64 // of its letters and what follows
	free  uint8  // how many bits of the tags, from the top, nothing hangs on
	match int32  // that it led to, counted from 1; 0 for none
}

// wordBits is the logarithm of how many words a page remembers.
const wordBits = 10

// lookAhead is how many runes behind a word choose the place of one that leads to
// something else before other words, as "the" and "to" do. Such a word has many places:
// that saves a sixteenth of the time for a text of 4 KiB.
const lookAhead = 3

// placeOf is where the page remembers a word, by its first tags.
func (p *Text) placeOf(tags uint64, n int) *word {
	return &p.words[page.Hash(tags<<page.BitsBeyond(n))>>(32-wordBits)]
}

// tryWord looks up a word, or takes from an earlier place of the page what it
// leads to.
func (p *Text) tryWord(start, end int) {
	tags, letters := page.Eight(p.Tags, start), end-start
	if letters >= 8 || tags&page.TopBits != 0 || !p.HasNoDiacritics(start, 8) {
		p.lookUp(start, end) // the tags do not tell all of its letters
		return
	}
	w := p.placeOf(tags, letters+1)
	if (tags^w.tags)<<w.free != 0 {
		w = p.placeOf(tags, min(letters+lookAhead, 8))
	}
	if (tags^w.tags)<<w.free == 0 {
		if w.match > 0 {
			p.replayMatch(w.match-1, start)
		}
		return
	}
	n := len(p.matches)
	found, inner := p.lookUp(start, end)
	read := p.far + 1 - start
	if inner || read > 8 || found && (n == len(p.matches) || p.matches[n].end > end) {
		return // it hangs on more than the tags tell, or a match before or behind may change it
	}
	if read <= letters+1 {
		w = p.placeOf(tags, letters+1)
	}
	*w = word{tags: tags, free: uint8(64 - 8*read)}
	if found {
		w.match = int32(n + 1)
	}
}

// replayMatch takes what a word led to before.
func (p *Text) replayMatch(at int32, start int) {
	m := p.newMatch()
	*m = p.matches[at]
	by := start - m.from
	m.start, m.end, m.from, m.to, m.like = m.start+by, m.end+by, start, m.to+by, at+1
	m.silent = false // that depends on the line
	p.dropOverlap()
}
