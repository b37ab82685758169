package score

import (
	"slices"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// topic is what the neighbourhood of a number is about: how often phrases of each role
// stand in it, and what else they say.
type topic struct {
	subject *subject

	auth, guard, void, not int
	once, where, brief     int
	label                  int  // of those for signing in, how many are part of a code's name
	code                   bool // a word for a code is somewhere
	use                    bool // an order to enter something is in the text
	done                   bool // the mail reports what has happened
	never                  bool // it holds no code
	initial                bool // something is to be changed at the first sign-in
	textNouns              bool // the text names what has a number of its own
	price                  bool // something costs money
}

// isSilent reports whether nothing speaks of signing in.
func (t *topic) isSilent() bool {
	return t.auth-t.label+t.guard+t.once+t.where == 0 && t.subject.name < codeName
}

// hasNoUse reports whether nothing says what to do with a code or how long it is good.
func (t *topic) hasNoUse() bool { return t.guard+t.once+t.where+t.brief == 0 }

// settled is the role of what is bought or booked where that is done: "your booking is
// confirmed", which is no signing in.
const settled = lexicon.Done | lexicon.Not

// roleOf is the class of a phrase that counts for a topic, if it has several; 0 if none does.
func roleOf(k *lexicon.Mark, l *page.Line) lexicon.Class {
	has := func(some lexicon.Class) bool { return k.Class&some != 0 }
	switch {
	case has(lexicon.Void):
		return lexicon.Void
	case k.Class&settled == settled && !l.InFoot(k.Start):
		return settled
	case has(lexicon.Auth) && !has(lexicon.Code|lexicon.Word):
		return lexicon.Auth
	case has(lexicon.Not) && !has(lexicon.Guard|lexicon.Done|lexicon.Once|lexicon.Where|lexicon.Brief|lexicon.For) && !l.InFoot(k.Start):
		return lexicon.Not
	}
	for _, some := range [...]lexicon.Class{lexicon.Guard, lexicon.Done, lexicon.Once, lexicon.Where, lexicon.Brief} {
		if has(some) {
			return some
		}
	}
	return 0
}

// topicOf counts the phrases of a neighbourhood by their roles.
func (p *Reading) topicOf(near neighbourhood, h *subject) topic {
	t := topic{subject: h}
	var auth, label, guard, once, where, brief, not, void page.Counts
	for i := p.marksIn(near, 0); i < len(p.Marks); i = p.marksIn(near, i+1) {
		k := &p.Marks[i]
		l := &p.Lines[k.Line]
		if l.Quoted || !near.has(k.Start, l.Part) || p.isIrrelevant(i, near) {
			continue
		}
		t.mention(k, l)
		switch roleOf(k, l) {
		case lexicon.Void:
			void[l.Part]++
		case lexicon.Auth:
			auth[l.Part]++
			if p.partOfName(i) {
				label[l.Part]++
			}
			t.done = t.done || k.Class&lexicon.Done != 0
		case lexicon.Guard:
			guard[l.Part]++
		case lexicon.Done, settled:
			t.done = true
		case lexicon.Once:
			once[l.Part]++
		case lexicon.Where:
			where[l.Part]++
		case lexicon.Brief:
			brief[l.Part]++
		case lexicon.Not:
			not[l.Part]++
			t.textNouns = t.textNouns || l.Part != page.InSubject
		}
	}
	t.auth, t.label, t.guard, t.void = auth.Seen(), label.Seen(), guard.Seen(), void.Seen()
	t.once, t.where, t.brief, t.not = once.Seen(), where.Seen(), brief.Seen(), slices.Max(not[:])
	share, price := p.offers(near)
	t.price = price
	if share && !h.auth { // an offer, unless the mail is about signing in
		t.void++
	}
	if h.talk {
		t.guard, t.void = 0, max(t.void, 1)
	}
	return t
}

// mention notes what a phrase says wherever it stands.
func (t *topic) mention(k *lexicon.Mark, l *page.Line) {
	t.code = t.code || k.Class&(lexicon.Code|lexicon.Word) != 0 && k.Class&lexicon.Digits == 0
	t.use = t.use || k.Class&lexicon.Use != 0 && l.Part != page.InSubject
	t.initial = t.initial || k.Class&lexicon.Initial != 0
	t.never = t.never || k.Class&lexicon.Never != 0
}

// partOfName reports whether a word for a code stands right beside a word for
// signing in, with which it makes one name: "access code", "codice d'accesso".
func (p *Reading) partOfName(i int) bool {
	k := &p.Marks[i]
	if i > 0 {
		if o := &p.Marks[i-1]; o.Class&named != 0 && p.IsNear(o.End, k.Start) {
			return true
		}
	}
	if i+1 < len(p.Marks) {
		if o := &p.Marks[i+1]; o.Class&named != 0 && p.IsNear(k.End, o.Start) {
			return true
		}
	}
	return false
}

// isIrrelevant reports whether a topic or a noun says nothing of the number of a neighbourhood:
// it is not close, or belongs to a name, a warning, a list of offers or a menu.
func (p *Reading) isIrrelevant(m int, t neighbourhood) bool {
	k := &p.Marks[m]
	if k.Class&(lexicon.Void|lexicon.Not|lexicon.Never|lexicon.Done|lexicon.Auth) == 0 {
		return false
	}
	return !t.isClose(k.Start, p.Lines[k.Line].Part) || k.Class&(lexicon.Void|lexicon.Not|lexicon.Never) != 0 && (p.IsBrand(m) || p.inWarning(m) || p.isEnumerated(m) || p.inMenu(int(k.Line)))
}

// inWarning reports whether a warning in the same sentence, some words before a noun, is
// what the noun belongs to: "do not tell it to anyone, not even a courier".
func (p *Reading) inWarning(m int) bool {
	const far = 6
	k := &p.Marks[m]
	for o := m - 1; o >= 0 && o >= m-far; o-- {
		g := p.Span(p.Marks[o].End, k.Start)
		if g.Sentences+g.Soft+g.Hard > 0 {
			return false
		}
		if p.Marks[o].Class&lexicon.Guard != 0 {
			return g.Words > 2
		}
	}
	return false
}

// isEnumerated reports whether a noun is one of three and more that commas part: a service
// lists what it offers, and says nothing of this mail.
func (p *Reading) isEnumerated(m int) bool {
	const least = 3
	items := 1
	for _, step := range [...]int{-1, 1} {
		for o := m; items < least && o+step >= 0 && o+step < len(p.Marks); o += step {
			a, b := &p.Marks[min(o, o+step)], &p.Marks[max(o, o+step)]
			if p.Marks[o+step].Class&(lexicon.Not|lexicon.Void|lexicon.Never) == 0 || b.Start-a.End > 16 || b.Start <= a.End || !commaIn(p.Low[a.End:b.Start]) {
				break
			}
			items++
		}
	}
	return items >= least
}

// commaIn reports whether a short stretch holds a comma and no digit or break.
func commaIn(low []rune) (yes bool) {
	for _, r := range low {
		switch {
		case page.IsDigit(r), r == page.SoftBreak, r == page.HardBreak, r == page.CellBreak:
			return false
		case r == ',', r == '،', r == '、', r == '·':
			yes = true
		}
	}
	return yes
}

// inMenu reports whether a line is one of several short lines without a figure, as the
// links of a menu are.
func (p *Reading) inMenu(k int) bool {
	const least = 4
	items := 0
	p.Steps += least
	for i := k; i >= 0 && items < least && p.menuLine(i, k); i-- {
		items++
	}
	for i := k + 1; i < len(p.Lines) && items < least && p.menuLine(i, k); i++ {
		items++
	}
	return items >= least
}

// menuLine reports whether a line, of the same part as another, may be that of a menu.
func (p *Reading) menuLine(i, other int) bool {
	const long = 24
	l := &p.Lines[i]
	return l.Part == p.Lines[other].Part && l.Part != page.InSubject && l.End-l.Start <= long && !slices.ContainsFunc(p.Low[l.Start:l.End], page.IsDigit)
}
