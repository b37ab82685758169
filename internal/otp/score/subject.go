package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// A naming says whether something names a code.
type naming uint8

const (
	nameless naming = iota
	weakName        // a word that may name one: “code”
	codeName        // a name of a one-time code: “verification code”
)

// subject is what the subject of a mail says by itself. It belongs to every neighbourhood.
type subject struct {
	name    naming // of a code
	only    bool   // it is that name and nothing else
	noun    bool   // it names what has a number of its own
	auth    bool   // it speaks of signing in
	void    bool   // it names a code of another kind
	trade   bool   // it names what is bought, paid or sent, and neither a code nor signing in
	done    bool   // it reports what has happened, perhaps a sign-in that waits for its code
	outcome bool   // it reports what has come to its end
	old     bool   // it says that a code is used, wrong or expired
	guard   bool   // it warns
	brief   bool   // it names minutes
	talk    bool   // it warns of codes or says that one is used: the mail holds none
}

// subjectOf reads the subject.
func (p *Reading) subjectOf() (h subject) {
	const name = lexicon.Code | lexicon.Word
	for i := range p.Marks {
		k := &p.Marks[i]
		l := &p.Lines[k.Line]
		if l.Part != page.InSubject {
			break
		}
		if k.Class&name != 0 && k.Class&lexicon.Digits == 0 {
			h.only = h.only || k.Start <= l.Start && k.End >= l.End
			h.name = max(h.name, weakName)
			if k.Class&lexicon.Code != 0 {
				h.name = codeName
			}
		}
		h.noun = h.noun || k.Class&(lexicon.Not|lexicon.Void) != 0 && k.Class&(name|lexicon.Auth) == 0 && !p.IsBrand(i)
		h.old = h.old || k.Class&lexicon.Old != 0
		h.done = h.done || k.Class&lexicon.Done != 0
		h.outcome = h.outcome || k.Class&lexicon.Outcome != 0
		if p.isIrrelevant(i, everything()) {
			continue
		}
		switch roleOf(k, l) {
		case lexicon.Void:
			h.void = true
		case lexicon.Auth:
			h.auth = true
		case lexicon.Guard:
			h.guard = true
		case lexicon.Brief:
			h.brief = true
		case lexicon.Not, settled:
			h.trade = true
		}
	}
	h.conclude(p.isAnnounced())
	return h
}

// conclude draws from what the subject names what it makes of the mail. Where a number
// stands in it, what it says of validity is a warning.
func (h *subject) conclude(announced bool) {
	h.old = h.old && !announced && (h.name > nameless || !h.noun) // a ticket is cancelled, not a code
	h.trade = (h.trade || h.void) && !h.auth && h.name == nameless
	if h.talk = h.old || h.guard && !announced && h.name > nameless; h.talk {
		h.name = nameless
	}
}

// isAnnounced reports whether the subject holds a number beside a word for a code:
// "482913 is your code (expires in 10 minutes)". What it says of validity is a
// warning then, and no talk about codes.
func (p *Reading) isAnnounced() bool {
	named, number := false, false
	for i := range p.Marks {
		if p.Lines[0].Part != page.InSubject || p.Marks[i].Start >= p.Lines[0].End {
			break
		}
		named = named || p.Marks[i].Class&(lexicon.Code|lexicon.Word) != 0
	}
	for i := range p.found {
		c := &p.found[i]
		if p.Lines[0].Part != page.InSubject || c.start >= p.Lines[0].End {
			break
		}
		number = number || c.veto == "" && (c.kind == Numeric || c.upper && !c.letters)
	}
	return named && number
}
