package lexicon

import (
	"math/bits"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// believed is the share of the best language's votes that another needs.
const believed = 0.45

// heard is the share it needs for its weak words to count.
const heard = 0.25

// overheard is the share it needs for its words beside links to count. Czech, of which none
// is in a Dutch mail, has no say in what a Dutch word asks for; a few votes may be all that a short mail has.
const overheard = 0.12

// unsure is the votes for the best language up to which any may be that of a mail.
const unsure = 8

// ballot is the votes for each language, and the languages that have some.
type ballot struct {
	of    [maxLangs]float64
	voted languages
}

// languages is a set of languages, a bit for each.
type languages [maxLangs / 64]uint64

func (s *languages) add(lang int) { s[lang/64] |= 1 << (lang % 64) }

// vote counts the letters of a phrase for its languages; a phrase of several
// languages counts less for each.
func (p *Text) vote(m *match, votes *ballot) {
	senses := p.senses[m.first:m.last]
	weight := 1 / float64(len(senses))
	if p.Kind[m.from]&page.Dense != 0 {
		weight *= 2
	}
	for _, s := range senses {
		votes.voted.add(int(s.lang))
		votes.of[s.lang] += weight * float64(min(s.size, 12))
	}
}

// trusted is the classes that count in each language in a district. All but the languages
// with votes have those of a table, so that only these change from district to district.
type trusted struct {
	in    [maxLangs]trust
	voted languages
	table *[maxLangs]trust
}

// ballots is those of the districts around the present one, in a ring of four. Those of
// all districts of a text of 4 KiB would fill half of the processor's nearest cache; the
// ring saves a fiftieth of the time.
type ballots struct {
	ring [4]ballot
	last int // the last district that is in the ring
	next int // the first match that has not voted
	line int // of the match before it
}

func (b *ballots) ofDistrict(district int) *ballot { return &b.ring[district&3] }

// elect counts the votes of the phrases as far as a district.
func (p *Text) elect(district int) {
	b := &p.votes
	for b.last < district {
		b.last++
		*b.ofDistrict(b.last) = ballot{}
	}
	for ; b.next < len(p.matches); b.next++ {
		m := &p.matches[b.next]
		b.line = p.lineFrom(b.line, m.start)
		d := p.Lines[b.line].District
		if d > district {
			return
		}
		if !m.silent && !p.inName(b.next) {
			p.vote(m, b.ofDistrict(d))
		}
	}
}

// trustIn works out the classes that count in each language in a district. Few of the
// languages have votes there, and only those are looked at; that saves a ninth of the
// time for a text of 4 KiB.
func (p *Text) trustIn(w int) {
	before, votes, after := p.votes.ofDistrict(w-1), p.votes.ofDistrict(w), p.votes.ofDistrict(w+1)
	var sum ballot
	var bests [2]float64
	for k := range sum.voted {
		sum.voted[k] = before.voted[k] | votes.voted[k] | after.voted[k]
		for rest := sum.voted[k]; rest != 0; rest &= rest - 1 {
			l := k*64 + bits.TrailingZeros64(rest)
			v := votes.of[l] + neighbours*before.of[l]
			v += neighbours * after.of[l]
			sum.of[l] = v
			p.x.compete(l, v, &bests)
		}
	}
	p.trust(&sum, bests)
	if len(p.Links) > 0 {
		p.hear(&sum, bests)
	}
}

// hear adds the languages in which a link's words count in a district.
func (p *Text) hear(votes *ballot, bests [2]float64) {
	if bests[0] <= unsure {
		p.heard = languages{^uint64(0), ^uint64(0)}
	}
	for k, voted := range votes.voted {
		for rest := voted; rest != 0; rest &= rest - 1 {
			if l := k*64 + bits.TrailingZeros64(rest); votes.of[l] >= overheard*bests[p.x.nonLatin(l)] {
				p.heard.add(l)
			}
		}
	}
}

// compete takes the votes for a language, if they are the most so far: of all languages,
// and of those that are not in Latin letters. A name in Latin letters says nothing of the
// language of a mail in others; words in others say much of one in Latin letters.
func (x *lexicon) compete(l int, votes float64, bests *[2]float64) {
	if x.common[l] {
		return
	}
	if votes > bests[0] {
		bests[0] = votes
	}
	if votes > bests[1] && !x.latin[l] {
		bests[1] = votes
	}
}

// trust notes the classes that count in each language.
func (p *Text) trust(votes *ballot, bests [2]float64) {
	t := &p.trusted
	if table := &p.x.unheard[positive(bests[0])][positive(bests[1])]; t.table != table {
		t.in, t.table, t.voted = *table, table, languages{}
	}
	for k, voted := range votes.voted {
		for rest := t.voted[k] &^ voted; rest != 0; rest &= rest - 1 {
			l := k*64 + bits.TrailingZeros64(rest)
			t.in[l] = t.table[l]
		}
		for rest := voted; rest != 0; rest &= rest - 1 {
			l := k*64 + bits.TrailingZeros64(rest)
			t.in[l] = p.x.trustOf(l, votes.of[l], bests[p.x.nonLatin(l)])
		}
	}
	t.voted = votes.voted
}

// maxBrief is how many letters a phrase has that another language may well have
// for something else: "din" is yours, and of, and a currency. It is believed in
// the languages of a mail that have most votes.
const maxBrief = 3

// leading is the share of the best language's votes that a language needs for that.
const leading = 0.8

// likely is the share it needs for "is", which ties a number to the word before it and
// says little by itself: Czech and Slovak share "kód" with Hungarian, and not "je".
const likely = 0.6

// everyClass is what a phrase may stand for in a language that is believed.
const everyClass = ^Class(0)

// trust is the classes that count in a language: of phrases of a few letters, and
// of any other.
type trust struct{ brief, any Class }

// trustOf gives the classes that count in a language with some votes, where the best of
// its script has others.
func (x *lexicon) trustOf(l int, votes, best float64) (t trust) {
	const briefly = Code | Word | Use | Digits | Own | classQuote
	switch {
	case x.common[l] || votes >= believed*best:
		if t.any = everyClass; !x.owns[l] {
			t.any &^= ownsBit
		}
	case votes >= heard*best:
		t.any = Code | classQuote | Word | Digits | Approval | Confirmation | Once | Where
	default:
		t.any = Code | classQuote | Once
	}
	if t.brief = t.any; votes < leading*best && !x.common[l] {
		if t.brief &= briefly; votes >= likely*best {
			t.brief |= t.any & Is
		}
	}
	return t
}

// tabulateTrust fills in the trust in languages without votes, by whether any language
// has some, and whether one that is not in Latin letters has.
func (x *lexicon) tabulateTrust() {
	for some := range x.unheard {
		for other := range x.unheard[some] {
			bests := [2]float64{float64(some), float64(other)}
			for l := range x.langs {
				x.unheard[some][other][l] = x.trustOf(l, 0, bests[x.nonLatin(l)])
			}
		}
	}
}

// nonLatin is 1 for a language that is not in Latin letters.
func (x *lexicon) nonLatin(lang int) int {
	if x.latin[lang] {
		return 0
	}
	return 1
}

// positive is 1 for a number above 0, and 0 for 0.
func positive(n float64) int {
	if n > 0 {
		return 1
	}
	return 0
}
