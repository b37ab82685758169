package score

import (
	"slices"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// How the topic of a mail is found.

// partOfName says whether a word for a code stands right beside a word for
// signing in, with which it makes one name: "access code", "codice d'accesso".
func (p *Reading) partOfName(i int) bool {
	k := &p.Marks[i]
	if i > 0 {
		if o := &p.Marks[i-1]; o.Class&named != 0 && p.Near(o.End, k.Start) {
			return true
		}
	}
	if i+1 < len(p.Marks) {
		if o := &p.Marks[i+1]; o.Class&named != 0 && p.Near(k.End, o.Start) {
			return true
		}
	}
	return false
}

// topicOf counts the phrases of a neighbourhood by class.
func (p *Reading) topicOf(t neighbourhood) topic {
	const settled = lexicon.Done | lexicon.Not
	var m topic
	var auth, label, guard, once, where, brief, not, void page.Counts
	for i := p.marksIn(t, 0); i < len(p.Marks); i = p.marksIn(t, i+1) {
		k := &p.Marks[i]
		l := &p.Lines[k.Line]
		if l.Quoted || !t.has(k.Start, l.Part) {
			continue
		}
		if l.Part == page.InSubject {
			m.head(k, l, p.Brand(i))
		}
		if p.beyond(i, t) {
			continue
		}
		m.mention(k, l)
		switch {
		case k.Class&lexicon.Void != 0:
			void[l.Part]++
			m.subjectVoid = m.subjectVoid || l.Part == page.InSubject
		case k.Class&settled == settled && !l.InFoot(k.Start): // "your booking is confirmed", which is no signing in
			m.done = true
			m.subjectTrade = m.subjectTrade || l.Part == page.InSubject
		case k.Class&lexicon.Auth != 0 && k.Class&(lexicon.Code|lexicon.Word) == 0:
			auth[l.Part]++
			if p.partOfName(i) {
				label[l.Part]++
			}
			m.subjectAuth = m.subjectAuth || l.Part == page.InSubject
			m.done = m.done || k.Class&lexicon.Done != 0
		case k.Class&lexicon.Guard != 0:
			guard[l.Part]++
			m.subjectGuard = m.subjectGuard || l.Part == page.InSubject
		case k.Class&lexicon.Done != 0:
			m.done = true
		case k.Class&lexicon.Once != 0:
			once[l.Part]++
		case k.Class&lexicon.Where != 0:
			where[l.Part]++
		case k.Class&lexicon.Brief != 0:
			brief[l.Part]++
		case k.Class&lexicon.Not != 0 && k.Class&lexicon.For == 0 && !l.InFoot(k.Start):
			m.subjectTrade = m.subjectTrade || l.Part == page.InSubject
			not[l.Part]++
			m.textNouns = m.textNouns || l.Part != page.InSubject
		}
	}
	m.auth, m.label, m.guard, m.void = auth.Told(), label.Told(), guard.Told(), void.Told()
	m.once, m.where, m.brief, m.not = once.Told(), where.Told(), brief.Told(), slices.Max(not[:])
	share, price := p.offers(t)
	m.price, m.reply = price, p.Answers()
	if share && !m.subjectAuth { // an offer, unless the mail is about signing in
		m.void++
	}
	m.conclude(p.announced())
	return m
}

// mention notes what a phrase says wherever it stands.
func (m *topic) mention(k *lexicon.Mark, l *page.Line) {
	m.code = m.code || k.Class&(lexicon.Code|lexicon.Word) != 0 && k.Class&lexicon.Digits == 0
	m.use = m.use || k.Class&lexicon.Use != 0 && l.Part != page.InSubject
	m.initial = m.initial || k.Class&lexicon.Initial != 0
	m.never = m.never || k.Class&lexicon.Never != 0
}

// head notes what the subject says by itself.
func (m *topic) head(k *lexicon.Mark, l *page.Line, brand bool) {
	const name = lexicon.Code | lexicon.Word
	if k.Class&name != 0 && k.Class&lexicon.Digits == 0 {
		m.subjectCode = max(m.subjectCode, subjectWord.weight)
		m.subjectOnly = m.subjectOnly || k.Start <= l.Start && k.End >= l.End
		if k.Class&lexicon.Code != 0 {
			m.subjectCode = subjectName.weight
		}
	}
	m.subjectNoun = m.subjectNoun || !brand && k.Class&(lexicon.Not|lexicon.Void) != 0 && k.Class&(name|lexicon.Auth) == 0
	m.subjectOld = m.subjectOld || k.Class&lexicon.Old != 0
	m.subjectDone = m.subjectDone || k.Class&lexicon.Done != 0
	m.subjectOutcome = m.subjectOutcome || k.Class&lexicon.Outcome != 0
}

// announced reports whether the subject holds a number beside a word for a code:
// "482913 is your code (expires in 10 minutes)". What it says of validity is a
// warning then, and no talk about codes.
func (p *Reading) announced() bool {
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

// conclude draws from the counts what the subject makes of the mail.
func (m *topic) conclude(announced bool) {
	if announced {
		m.subjectOld, m.subjectGuard = false, false
	}
	m.subjectOld = m.subjectOld && (m.subjectCode > 0 || !m.subjectNoun) // a ticket is cancelled, not a code
	m.subjectTrade = (m.subjectTrade || m.subjectVoid) && !m.subjectAuth && m.subjectCode == 0
	if m.subjectOld || m.subjectGuard && m.subjectCode > 0 {
		m.subjectCode, m.guard = 0, 0
		m.void = max(m.void, 1)
	}
}

// beyond reports whether a topic or a noun says nothing of the number of a neighbourhood:
// it is not close, or belongs to a name, a warning, a list of offers or a menu.
func (p *Reading) beyond(m int, t neighbourhood) bool {
	k := &p.Marks[m]
	if k.Class&(lexicon.Void|lexicon.Not|lexicon.Never|lexicon.Done|lexicon.Auth) == 0 {
		return false
	}
	return !t.isClose(k.Start, p.Lines[k.Line].Part) || k.Class&(lexicon.Void|lexicon.Not|lexicon.Never) != 0 && (p.Brand(m) || p.warned(m) || p.enumerated(m) || p.inMenu(int(k.Line)))
}

// warned reports whether a warning in the same sentence, some words before a noun, is
// what the noun belongs to: "do not tell it to anyone, not even a courier".
func (p *Reading) warned(m int) bool {
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

// enumerated reports whether a noun is one of three and more that commas part: a service
// lists what it offers, and says nothing of this mail.
func (p *Reading) enumerated(m int) bool {
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
