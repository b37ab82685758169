package otp

// No guess at the language of a mail has to be right: every lexicon is looked
// up at once. But a word of one language may be another thing in the next
// (Malay "kad" is a card, Lithuanian "kad" is "that"), so the phrases vote for
// their languages, and those of languages with few votes are not believed.

// maxLangs bounds the number of lexicons.
const maxLangs = 128

// believed is the share of the best language's votes that another needs.
const believed = 0.45

// heard is the share it needs for its weak words to count.
const heard = 0.25

// resolve gives the marks the classes of the languages that are believed, and
// drops those that are left with none. Names of codes, requests to
// enter one and the heads of quoted mails count in any language.
func (p *page) resolve() {
	var votes [maxLangs]float64
	p.fitting = p.fitting[:0]
	for i := range p.marks {
		p.fit(&p.marks[i])
	}
	p.eachLine(func(marks []mark) {
		for i := range marks {
			if marks[i].footer {
				return // senders leave their footers untranslated
			}
		}
		for i := range marks {
			p.vote(&marks[i], &votes)
		}
	})
	bests := p.most(&votes)
	trusted := p.trust(&votes, bests)
	first := [2]float64{0.8 * bests[0], 0.8 * bests[1]}
	kept := p.marks[:0]
	for i := range p.marks {
		m := &p.marks[i]
		for _, t := range p.fitting[m.first:m.last] {
			f := &p.x.terms[t]
			if f.size <= maxBrief && votes[f.lang] < first[p.script(f.lang)] && !p.x.common[f.lang] {
				m.class |= f.class & trusted[f.lang] & (classCode | classWord | classUse | classDigits | classOwn | classQuote)
				continue
			}
			m.class |= f.class & trusted[f.lang]
			m.owns = m.owns || trusted[f.lang] == everyClass && p.x.owns[f.lang]
		}
		const purpose, other = classAuth | classOnce, classNot | classVoid | classNever | classCode
		switch head := p.headed(m, &trusted); {
		case head&classWhere != 0:
			m.class = m.class&^other | classWhere
		case head&(classCode|classWord|classNumber) != 0 && m.class&purpose != 0 && m.class&other == 0:
			m.class |= classCode
		}
		if m.class&classUse != 0 {
			m.class &^= classOld // an order to use it, though the same letters may say that it was
		}
		if m.class != 0 && !p.inAddress(m) {
			kept = append(kept, *m)
		}
	}
	p.marks = kept
}

// inAddress says whether a mark is part of an e-mail address: a name that
// somebody chose, and no word of the mail.
func (p *page) inAddress(m *mark) bool {
	const far = 64
	for i := m.end; i < min(m.end+far, len(p.low)) && ofAddress(p.low[i]); i++ {
		if p.low[i] == '@' {
			return true
		}
	}
	for i := m.start - 1; i >= max(0, m.start-far) && ofAddress(p.low[i]); i-- {
		if p.low[i] == '@' {
			return true
		}
	}
	return false
}

// ofAddress says whether an address goes on with a rune.
func ofAddress(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '@' || r == '.' || r == '-' || r == '_' || r == '+'
}

// headed gives the classes of the last part of a compound: "signeringskod" and
// "Freigabenummer" name a code, "Buchungsseite" a page.
func (p *page) headed(m *mark, trusted *[maxLangs]class) (c class) {
	if m.head == 0 {
		return 0
	}
	h := mark{from: int(m.headFrom), to: m.end, node: m.head, first: int32(len(p.fitting))}
	p.fitNode(&h, h.node, true)
	for _, t := range p.fitting[h.first:] {
		c |= p.x.terms[t].class & trusted[p.x.terms[t].lang]
	}
	p.fitting = p.fitting[:h.first]
	return c
}

// maxBrief is how many letters a phrase has that another language may well have
// for something else: "din" is yours, and of, and a currency. It is believed in
// the languages of a mail that have most votes.
const maxBrief = 3

// everyClass is what a phrase may stand for in a language that is believed.
const everyClass = ^class(0)

// trust gives the classes that count in each language.
func (p *page) trust(votes *[maxLangs]float64, bests [2]float64) (trusted [maxLangs]class) {
	for l := range p.x.langs {
		best := bests[p.script(uint8(l))]
		switch {
		case p.x.common[l] || votes[l] >= believed*best:
			trusted[l] = everyClass
		case votes[l] >= heard*best:
			trusted[l] = classCode | classQuote | classWord | classDigits | classApproval | classConfirmation | classOnce | classWhere
		default:
			trusted[l] = classCode | classQuote | classOnce
		}
	}
	return trusted
}

// most is what the language with most votes has, of all, and of those that are
// not in Latin letters. A name in Latin letters says nothing of the language of
// a mail in others; words in others say much of one in Latin letters.
func (p *page) most(votes *[maxLangs]float64) (bests [2]float64) {
	for l := range p.x.langs {
		v := votes[l]
		if v > bests[0] && !p.x.common[l] {
			bests[0] = v
		}
		if v > bests[1] && !p.x.common[l] && !p.x.latin[l] {
			bests[1] = v
		}
	}
	return bests
}

// script is 1 for a language that is not in Latin letters.
func (p *page) script(lang uint8) int {
	if p.x.latin[lang] {
		return 0
	}
	return 1
}

// vote counts the letters of a phrase for its languages; a phrase of several
// languages counts less for each.
func (p *page) vote(m *mark, votes *[maxLangs]float64) {
	terms := p.fitting[m.first:m.last]
	weight := 1 / float64(len(terms))
	if p.kind[m.from]&dense != 0 {
		weight *= 2
	}
	for _, t := range terms {
		votes[p.x.terms[t].lang] += weight * float64(min(p.x.terms[t].size, 12))
	}
}

// fit notes the phrases that a mark stands for: those that end where it ends,
// those that would let its last word go on, and shorter stems of the same
// words, which may be those of another language.
func (p *page) fit(m *mark) {
	m.first = int32(len(p.fitting))
	p.fitNode(m, m.node, true)
	for _, node := range m.others {
		if node == 0 {
			break
		}
		p.fitNode(m, node, false)
	}
	m.last = int32(len(p.fitting))
}

// speaks says whether a mark already stands for a phrase of a language.
func (p *page) speaks(m *mark, lang uint8) bool {
	for _, t := range p.fitting[m.first:] {
		if p.x.terms[t].lang == lang {
			return true
		}
	}
	return false
}

func (p *page) fitNode(m *mark, node int32, longest bool) {
	for node != 0 {
		n := &p.x.nodes[node]
		for t := n.head; t >= 0; t = p.x.terms[t].more {
			if f := &p.x.terms[t]; p.fits(f, m) && (longest || !p.speaks(m, f.lang)) {
				p.fitting = append(p.fitting, t)
				m.footer = m.footer || f.class&classFoot != 0
			}
		}
		if !n.star || !p.boundary(m.to) {
			break
		}
		node = p.x.step(node, star)
	}
}

// eachLine goes through the marks of each line.
func (p *page) eachLine(do func([]mark)) {
	k := 0
	for i := range p.lines {
		from := k
		for k < len(p.marks) && p.marks[k].start < p.lines[i].end {
			k++
		}
		if from < k {
			do(p.marks[from:k])
		}
	}
}
