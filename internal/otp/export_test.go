package otp

import "slices"

// PhrasesOf gives the numbers of the phrases that a mail is understood by.
func PhrasesOf(m Mail) []int32 {
	p := read(m)
	defer p.discard()
	var met []int32
	for _, s := range p.senses {
		met = append(met, s.term)
	}
	slices.Sort(met)
	return slices.Compact(met)
}

// Unlearn makes the lexicon of the process forget some phrases until relearn is
// called: they ask for letters that no text has.
func Unlearn(phrases []int32) (relearn func()) {
	x := lexicons()
	known, none := make([]phrase, len(phrases)), int32(len(x.letters))
	x.letters = append(x.letters, make([]rune, maxWord)...)
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
