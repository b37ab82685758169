// Package lexicon finds in a mail the phrases that say what a number is, in all
// languages at once. The languages are data: a file of phrases for each.
package lexicon

import (
	"slices"

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
	votes   ballots // for the languages, by district
	trusted trusted // in the district of the match that is resolved
}

// Read fills the text with a mail and finds the phrases in it.
func (p *Text) Read(subject, text, html string) {
	p.Page.Read(subject, text, html)
	p.x = lexicons()
	clear(p.words[:])
	p.matches, p.senses, p.Marks, p.far, p.trusted.table = p.matches[:0], p.senses[:0], p.Marks[:0], 0, nil
	p.findMarks()
	p.cutQuotes()
}

// Phrases gives the numbers of the phrases that a mail is understood by, in
// ascending order.
func (p *Text) Phrases() []int32 {
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
	x := lexicons()
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
