package lexicon

// No guess at the language of a mail has to be right: every lexicon is looked
// up at once. But a word of one language may be another thing in the next
// (Malay "kad" is a card, Lithuanian "kad" is "that"), so the phrases vote for
// their languages, and those of languages with few votes are not believed.

// maxLangs bounds the number of lexicons.
const maxLangs = 128

// sense is a phrase that a match stands for, with what is asked of it more than
// once.
type sense struct {
	class Class
	term  int32 // its number
	lang  uint8
	size  uint8
}

// ownsBit stands beside the classes of a phrase: its language, if it is believed,
// lists what may stand before a word for a code.
const ownsBit Class = 1 << 31

// fitMatches notes the phrases of the matches before a place.
func (p *Text) fitMatches(end int) {
	for ; p.done.fitted < len(p.matches) && p.matches[p.done.fitted].start < end; p.done.fitted++ {
		m := &p.matches[p.done.fitted]
		if p.fit(m); m.footer && !m.silent {
			p.muteLine(p.done.fitted)
		}
	}
}

// resolve gives the matches as far as a district the classes of the languages that are
// believed, and makes marks of those that are left with some. Names of codes, requests
// to enter one and the heads of quoted mails count in any language.
func (p *Text) resolve(district int) {
	d := &p.done
	for ; d.resolved < len(p.matches); d.resolved++ {
		m := &p.matches[d.resolved]
		d.line = p.lineFrom(d.line, m.start)
		if in := p.Lines[d.line].District; in > district {
			return
		} else if in != d.district {
			d.district = in
			p.elect(in + 1)
			p.trustIn(in)
		}
		if c := p.classes(m); c&^ownsBit != 0 && !p.inAddress(m) {
			p.Marks = append(p.Marks, Mark{Start: m.start, End: m.end, From: m.from, Line: int32(d.line), Class: c &^ ownsBit, Owns: c&ownsBit != 0})
		}
	}
}

// The phrases of a long mail vote by districts: some lines of so many runes. The languages
// of a district are those that it and, for less, its neighbours elect, so that a long
// text in another language below a mail changes little.
const (
	districtSize = 160  // near the top of a part of the mail
	farDistrict  = 1024 // below that
	top          = 4096
	longLine     = 80   // runes of a line that begins a district
	shortMail    = 1536 // runes of a mail that is one district
	neighbours   = 0.1  // the weight of the votes of a district beside
)

// divide assigns the lines to districts.
func (p *Text) divide() {
	if len(p.Low) <= shortMail {
		return
	}
	district, begin := 0, 0
	for i := range p.Lines {
		l := &p.Lines[i]
		size, long := farDistrict, farDistrict
		if l.Start < p.Bounds[l.Part][0]+top {
			size, long = districtSize, longLine
		}
		if i > 0 && (l.Part != p.Lines[i-1].Part || l.End-begin > size || l.End-l.Start > long) {
			district, begin = district+1, l.Start
		}
		l.District = district
	}
}

// lineFrom gives the index of the line that holds a place, from a line before on.
func (p *Text) lineFrom(line, i int) int {
	for line < len(p.Lines)-1 && p.Lines[line].End <= i {
		line++
	}
	return line
}

// classes gives what a match stands for in the languages that are believed.
func (p *Text) classes(m *match) (c Class) {
	trusted := &p.trusted.in
	for _, s := range p.senses[m.first:m.last] {
		if s.size <= maxBrief {
			c |= s.class & trusted[s.lang].brief
		} else {
			c |= s.class & trusted[s.lang].any
		}
	}
	if m.head != 0 {
		const purpose, other = Auth | Once, Not | Void | Never | Code
		switch head := p.headClasses(m); {
		case head&Where != 0:
			c = c&^other | Where
		case head&(Code|Word|Number) != 0 && c&purpose != 0 && c&other == 0:
			c |= Code
		}
	}
	if c&Use != 0 {
		c &^= Old // an order to use it, though the same letters may say that it was
	}
	return c
}

// inAddress reports whether a match is part of an e-mail address: part of a
// chosen name, not a word of the mail.
func (p *Text) inAddress(m *match) bool {
	const far = 64
	for i := m.end; i < min(m.end+far, len(p.Low)) && isAddressRune(p.Low[i]); i++ {
		if p.Low[i] == '@' {
			return true
		}
	}
	for i := m.start - 1; i >= max(0, m.start-far) && isAddressRune(p.Low[i]); i-- {
		if p.Low[i] == '@' {
			return true
		}
	}
	return false
}

// isAddressRune reports whether an address goes on with a rune.
func isAddressRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '@' || r == '.' || r == '-' || r == '_' || r == '+'
}

// headClasses gives the classes of the last part of a compound: "signeringskod" and
// "Freigabenummer" name a code, "Buchungsseite" a page.
func (p *Text) headClasses(m *match) (c Class) {
	h := match{from: m.headFrom, to: m.end}
	n := len(p.senses)
	p.fitNode(&h, m.head, true)
	for _, s := range p.senses[n:] {
		c |= s.class & p.trusted.in[s.lang].any
	}
	p.senses = p.senses[:n]
	return c
}

// muteLine keeps the matches on the line of one from voting, since it begins a
// footer: senders leave theirs untranslated.
func (p *Text) muteLine(i int) {
	l := &p.Lines[p.LineAt(p.matches[i].start)]
	for k := i; k >= 0 && p.matches[k].start >= l.Start; k-- {
		p.matches[k].silent = true
	}
	for k := i + 1; k < len(p.matches) && p.matches[k].start < l.End; k++ {
		p.matches[k].silent = true
	}
}

// fit notes the phrases that a match stands for: those that end where it ends,
// those that would let its last word go on, and shorter stems of the same
// words, which may be those of another language.
func (p *Text) fit(m *match) {
	if m.like > 0 {
		o := &p.matches[m.like-1]
		m.first, m.last, m.footer = o.first, o.last, o.footer
		return
	}
	m.first = int32(len(p.senses))
	p.fitNode(m, m.node, true)
	for _, node := range m.others {
		if node == 0 {
			break
		}
		p.fitNode(m, node, false)
	}
	m.last = int32(len(p.senses))
}

// hasLanguage reports whether a match already stands for a phrase of a language.
func (p *Text) hasLanguage(m *match, lang uint8) bool {
	for i := range p.senses[m.first:] {
		if p.senses[int(m.first)+i].lang == lang {
			return true
		}
	}
	return false
}

func (p *Text) fitNode(m *match, node int32, longest bool) {
	for node != 0 {
		n := &p.x.nodes[node]
		for t := n.head; t >= 0; {
			f := &p.x.terms[t]
			if p.fits(f, m) && (longest || !p.hasLanguage(m, f.lang)) {
				p.senses = append(p.senses, sense{class: f.class | ownsBit, term: t, lang: f.lang, size: f.size})
				m.footer = m.footer || f.class&Foot != 0
			}
			t = f.more
		}
		if !n.star || !p.Boundary(m.to) {
			break
		}
		node = p.x.step(node, star)
	}
}
