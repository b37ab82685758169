// Package lexicon finds in a mail the phrases that say what a number is, in all
// languages at once. The languages are data: a file of phrases for each.
package lexicon

import (
	"math"
	"slices"
	"sort"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// Text is a page with the phrases of the lexicon that are found in it.
type Text struct {
	page.Page
	x       *lexicon
	words   [1 << wordBits]word
	matches []match
	far     int     // the last rune that the look-up of a word has read
	senses  []sense // of the matches
	Marks   []Mark
	votes   ballots   // for the languages, by district
	trusted trusted   // in the district of the match that is resolved
	heard   languages // those in which a link's words count
	done    progress
}

// progress is how far the phrases of a text are found.
type progress struct {
	to       int // the rune that all marks are found before
	next     int // the rune that is looked at next
	fitted   int // how many matches have their phrases
	resolved int // how many matches have been made marks or dropped
	district int // of the last resolved match, or -1
	line     int // of the last resolved match
	marks    int // how many marks cutQuotes has read
	lines    int // how many lines cutQuotes has read
}

// Read fills the text with a mail, in which no phrases are found yet.
func (p *Text) Read(subject, text, html string) {
	p.Page.Read(subject, text, html)
	p.x, _ = lexicons() // Warm reports the error
	clear(p.words[:])
	p.matches, p.senses, p.Marks, p.far, p.trusted.table, p.heard = p.matches[:0], p.senses[:0], p.Marks[:0], 0, nil, p.x.always
	p.votes, p.done = ballots{last: -1}, progress{district: -1}
	p.divide()
}

// Find finds the phrases, footers and quoted mails as far as a place at least. It may be
// called again to go on, and gives the marks that FindAll gives. What is far behind the
// last number of a mail says nothing of it and need not be read; that saves a fifth of
// the time for a text of 4 KiB with its code in the middle.
func (p *Text) Find(place int) {
	if place < p.done.to || len(p.Lines) == 0 {
		return
	}
	district := p.Lines[p.LineAt(place)].District
	_, end := p.districtEnd(district + 1) // which votes for its languages
	p.findMatches(end)
	p.fitMatches(end)
	p.resolve(district)
	lines, to := p.districtEnd(district)
	p.cutQuotes(lines)
	p.done.to = to
}

// FindAll finds all phrases.
func (p *Text) FindAll() { p.Find(len(p.Low)) }

// districtEnd gives the number of lines up to the end of a district, and where the line
// behind it begins.
func (p *Text) districtEnd(district int) (lines, end int) {
	lines = sort.Search(len(p.Lines), func(i int) bool { return p.Lines[i].District > district })
	if lines == len(p.Lines) {
		return lines, math.MaxInt
	}
	return lines, p.Lines[lines].Start
}

// Phrases gives the numbers of the phrases that a mail is understood by, in
// ascending order.
func (p *Text) Phrases() []int32 {
	p.FindAll()
	var met []int32
	for _, s := range p.senses {
		met = append(met, s.term)
	}
	slices.Sort(met)
	return slices.Compact(met)
}

// Forget makes the lexicon of the process know nothing of some phrases until remember is
// called: they ask for letters that no text has. So the weights are fitted, and tests
// measure how mails are read whose wording is new. It is not safe for concurrent use.
func Forget(phrases []int32) (remember func()) {
	x, _ := lexicons()
	known, none := make([]phrase, len(phrases)), int32(len(x.letters))
	x.letters = append(x.letters, make([]rune, page.MaxWord)...)
	for i, t := range phrases {
		f := &x.terms[t]
		known[i] = *f
		f.exact, f.plain = none, false
	}
	return func() {
		for i, t := range phrases {
			x.terms[t] = known[i]
		}
		x.letters = x.letters[:none]
	}
}
