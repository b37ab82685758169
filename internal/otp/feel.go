package otp

import "slices"

// How the mood of a mail is found.

// partOfName says whether a word for a code stands right beside a word for
// signing in, with which it makes one name: "access code", "codice d'accesso".
func (p *page) partOfName(i int) bool {
	k := &p.marks[i]
	if i > 0 {
		if o := &p.marks[i-1]; o.class&named != 0 && p.near(o.end, k.start) {
			return true
		}
	}
	if i+1 < len(p.marks) {
		if o := &p.marks[i+1]; o.class&named != 0 && p.near(k.end, o.start) {
			return true
		}
	}
	return false
}

// near says whether little and no break is between two places.
func (p *page) near(from, to int) bool {
	if to-from > 6 {
		return false
	}
	for _, r := range p.low[from:to] {
		if r == softBreak || r == hardBreak || r == cellBreak || r == '.' {
			return false
		}
	}
	return true
}

// feel counts the phrases of a neighbourhood by class.
func (p *page) feel(t stretch) mood {
	const settled = classDone | classNot
	var m mood
	var auth, label, guard, once, where, brief, not, void counts
	line := 0
	for i := p.marksIn(t, 0); i < len(p.marks); i = p.marksIn(t, i+1) {
		k := &p.marks[i]
		if p.lines[line].end <= k.start {
			line = p.lineAt(k.start)
		}
		l := &p.lines[line]
		if l.quoted || !t.has(k.start, l.part) {
			continue
		}
		if l.part == inSubject {
			m.head(k, l, p.brand(i))
		}
		if p.beyond(i, t) {
			continue
		}
		m.mention(k, l)
		switch {
		case k.class&classVoid != 0:
			void[l.part]++
			m.subjectVoid = m.subjectVoid || l.part == inSubject
		case k.class&settled == settled && !l.inFoot(k.start): // "your booking is confirmed", which is no signing in
			m.done = true
			m.subjectTrade = m.subjectTrade || l.part == inSubject
		case k.class&classAuth != 0 && k.class&(classCode|classWord) == 0:
			auth[l.part]++
			if p.partOfName(i) {
				label[l.part]++
			}
			m.subjectAuth = m.subjectAuth || l.part == inSubject
		case k.class&classGuard != 0:
			guard[l.part]++
			m.subjectGuard = m.subjectGuard || l.part == inSubject
		case k.class&classDone != 0:
			m.done = true
		case k.class&classOnce != 0:
			once[l.part]++
		case k.class&classWhere != 0:
			where[l.part]++
		case k.class&classBrief != 0:
			brief[l.part]++
		case k.class&classNot != 0 && !l.inFoot(k.start):
			m.subjectTrade = m.subjectTrade || l.part == inSubject
			not[l.part]++
		}
	}
	m.auth, m.label, m.guard, m.void = auth.told(), label.told(), guard.told(), void.told()
	m.once, m.where, m.brief, m.not = once.told(), where.told(), brief.told(), slices.Max(not[:])
	share, price := p.offers(t)
	m.price, m.reply = price, p.answers()
	if share && !m.subjectAuth { // an offer, unless the mail is about signing in
		m.void++
	}
	m.conclude(p.announced())
	return m
}

// mention notes what a phrase says wherever it stands.
func (m *mood) mention(k *mark, l *line) {
	m.code = m.code || k.class&(classCode|classWord) != 0 && k.class&classDigits == 0
	m.use = m.use || k.class&classUse != 0 && l.part != inSubject
	m.initial = m.initial || k.class&classInitial != 0
	m.never = m.never || k.class&classNever != 0
}

// head notes what the subject says by itself.
func (m *mood) head(k *mark, l *line, brand bool) {
	const name = classCode | classWord
	if k.class&name != 0 && k.class&classDigits == 0 {
		m.subjectCode = max(m.subjectCode, 3)
		m.subjectOnly = m.subjectOnly || k.start <= l.start && k.end >= l.end
		if k.class&classCode != 0 {
			m.subjectCode = 3.4
		}
	}
	m.subjectNoun = m.subjectNoun || !brand && k.class&(classNot|classVoid) != 0 && k.class&(name|classAuth) == 0
	m.subjectOld = m.subjectOld || k.class&classOld != 0
}

// announced reports whether the subject holds a number beside a word for a code:
// "482913 is your code (expires in 10 minutes)". What it says of validity is a
// warning then, and no talk about codes.
func (p *page) announced() bool {
	named, number := false, false
	for i := range p.marks {
		if p.lines[0].part != inSubject || p.marks[i].start >= p.lines[0].end {
			break
		}
		named = named || p.marks[i].class&(classCode|classWord) != 0
	}
	for i := range p.found {
		c := &p.found[i]
		if p.lines[0].part != inSubject || c.start >= p.lines[0].end {
			break
		}
		number = number || c.veto == "" && (c.kind == Numeric || c.upper && !c.letters)
	}
	return named && number
}

// conclude draws from the counts what the subject makes of the mail.
func (m *mood) conclude(announced bool) {
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
func (p *page) beyond(m int, t stretch) bool {
	k := &p.marks[m]
	if k.class&(classVoid|classNot|classNever|classDone|classAuth) == 0 {
		return false
	}
	return !t.isClose(k.start, p.lines[p.lineAt(k.start)].part) || k.class&(classVoid|classNot|classNever) != 0 && (p.brand(m) || p.warned(m) || p.enumerated(m) || p.inMenu(m))
}

// warned reports whether a warning in the same sentence, some words before a noun, is
// what the noun belongs to: "do not tell it to anyone, not even a courier".
func (p *page) warned(m int) bool {
	const far = 6
	k := &p.marks[m]
	for o := m - 1; o >= 0 && o >= m-far; o-- {
		g := p.span(p.marks[o].end, k.start)
		if g.sentences+g.soft+g.hard > 0 {
			return false
		}
		if p.marks[o].class&classGuard != 0 {
			return g.words > 2
		}
	}
	return false
}

// enumerated reports whether a noun is one of three and more that commas part: a service
// lists what it offers, and says nothing of this mail.
func (p *page) enumerated(m int) bool {
	const least = 3
	items := 1
	for _, step := range [...]int{-1, 1} {
		for o := m; items < least && o+step >= 0 && o+step < len(p.marks); o += step {
			a, b := &p.marks[min(o, o+step)], &p.marks[max(o, o+step)]
			if p.marks[o+step].class&(classNot|classVoid|classNever) == 0 || b.start-a.end > 16 || b.start <= a.end || !commaIn(p.low[a.end:b.start]) {
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
		case isDigit(r), r == softBreak, r == hardBreak, r == cellBreak:
			return false
		case r == ',', r == '،', r == '、', r == '·':
			yes = true
		}
	}
	return yes
}

// inMenu reports whether a noun stands on one of several short lines without a figure,
// as the links of a menu do.
func (p *page) inMenu(m int) bool {
	const least = 4
	k := p.lineAt(p.marks[m].start)
	items := 0
	p.steps += least
	for i := k; i >= 0 && items < least && p.menuLine(i, k); i-- {
		items++
	}
	for i := k + 1; i < len(p.lines) && items < least && p.menuLine(i, k); i++ {
		items++
	}
	return items >= least
}

// menuLine reports whether a line, of the same part as another, may be that of a menu.
func (p *page) menuLine(i, other int) bool {
	const long = 24
	l := &p.lines[i]
	return l.part == p.lines[other].part && l.part != inSubject && l.end-l.start <= long && !slices.ContainsFunc(p.low[l.start:l.end], isDigit)
}
