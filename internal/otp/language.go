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
	p.eachLine(func(marks []mark) {
		for i := range marks {
			if p.footer(&marks[i]) {
				return // senders leave their footers untranslated
			}
		}
		for i := range marks {
			p.vote(&marks[i], &votes)
		}
	})
	best := 0.0
	for l, v := range votes {
		if !p.x.common[l] {
			best = max(best, v)
		}
	}
	kept := p.marks[:0]
	for _, m := range p.marks {
		p.eachTerm(&m, func(f *phrase) {
			if p.x.common[f.lang] || votes[f.lang] >= believed*best {
				m.class |= f.class
				m.owns = m.owns || p.x.owns[f.lang]
			} else {
				m.class |= f.class & (classCode | classUse | classQuote)
				if votes[f.lang] >= heard*best {
					m.class |= f.class & classWord
				}
			}
		})
		if m.class != 0 {
			kept = append(kept, m)
		}
	}
	p.marks = kept
}

// vote counts the letters of a phrase for its languages; a phrase of several
// languages counts less for each.
func (p *page) vote(m *mark, votes *[maxLangs]float64) {
	n := 0
	p.eachTerm(m, func(*phrase) { n++ })
	weight := float64(min(m.letters, 12)) / float64(n)
	if p.x.classOf(p.low[m.from]) == dense {
		weight *= 2
	}
	p.eachTerm(m, func(f *phrase) { votes[f.lang] += weight })
}

// eachTerm goes through the phrases that a mark stands for: those that end
// where it ends, and those that would let its last word go on.
func (p *page) eachTerm(m *mark, do func(*phrase)) {
	for node := m.node; node != 0; {
		for t := p.x.heads[node]; t >= 0; t = p.x.terms[t].more {
			if f := &p.x.terms[t]; p.fits(f, m.from, m.to) {
				do(f)
			}
		}
		if !p.x.stars[node] || !p.boundary(m.to) {
			return
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

// footer says whether a mark may belong to a footer.
func (p *page) footer(m *mark) (yes bool) {
	p.eachTerm(m, func(f *phrase) { yes = yes || f.class&classFoot != 0 })
	return yes
}
