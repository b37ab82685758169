package otp

import "slices"

// Features of the punctuation and symbols of a text, in any language: whether it
// quotes a third party, or sells something.

// quoted reports whether the word for a code and the number stand in the same
// quotation marks: the mail shows a third party's words, as in a warning about
// fraud. A number alone in quotation marks is one to be copied.
func (s *scoring) quoted(c *candidate) bool {
	if c.anchor < 0 {
		return false
	}
	m := &s.p.marks[c.anchor]
	if m.end > c.start || !s.closed(c.end) {
		return false
	}
	if slices.ContainsFunc(s.p.low[m.end:c.start], quoting) {
		return false
	}
	for i := m.start - 1; i >= 0 && i > m.start-maxWord; i-- {
		switch r := s.p.low[i]; {
		case quoting(r):
			return true
		case r == softBreak, r == hardBreak, r == cellBreak:
			return false
		}
	}
	return false
}

// closed says whether a quotation ends shortly after a place.
func (s *scoring) closed(i int) bool {
	for _, r := range s.p.low[i:min(len(s.p.low), i+maxWord)] {
		switch {
		case quoting(r):
			return true
		case r == softBreak, r == hardBreak, r == cellBreak:
			return false
		}
	}
	return false
}

// quoting is true of quotation marks that are no apostrophes.
func quoting(r rune) bool {
	switch r {
	case '"', '“', '”', '„', '«', '»', '「', '」', '『', '』':
		return true
	}
	return false
}

// offers says whether a share of something and whether a price is named. Footers
// and what is quoted do not count.
func (p *page) offers(t stretch) (share, price bool) {
	for i := 0; i < len(p.lines); i++ {
		l := &p.lines[i]
		if !t.all && l.part != inSubject && l.end <= t.from {
			i = p.lineAt(t.from)
			l = &p.lines[i]
		}
		if !t.all && l.start >= t.to {
			break
		}
		if l.foot || l.quoted {
			continue
		}
		for j := p.nextIn(l.start, l.end, offerBit); j < l.end; j = p.nextIn(j+1, l.end, offerBit) {
			switch r := p.low[j]; {
			case !t.has(j, l.part) || !t.isClose(j, l.part):
			case r == '%', r == '٪':
				share = true
			case !counter(r) || isDigit(at(p.low, j-1)):
				price = true
			}
		}
	}
	return share, price
}

// offering is true of the signs of shares and prices.
func offering(r rune) bool { return r == '%' || r == '٪' || counter(r) || currency(r) }

// counter is true of the letters that name a currency behind a number.
func counter(r rune) bool { return r == '원' || r == '円' || r == '元' }

// opposeSpent looks further in the sentence for a word that says the code is no
// longer good, over whatever else is told of it: "123456, which you asked for at
// 10:20, has expired", "you used the code 123456". After a comma another may be
// meant.
func (s *scoring) opposeSpent(k int, o *opposition) {
	const spent = classOld | classDone
	c := &s.cs[k]
	s.rightOf(k, func(l look) bool {
		m, g := &s.p.marks[l.mark], l.gap
		if g.sentences+g.soft+g.hard > 0 || g.words > 16 || m.class&classBrief != 0 || s.clauseEnds(c.end, m.start) {
			return false
		}
		if m.class&classOld != 0 {
			o.note(-5, m)
		}
		return true
	})
	s.leftOf(k, func(l look) bool {
		m, g := &s.p.marks[l.mark], l.gap
		if g.sentences+g.soft+g.hard > 0 || g.words > 4 || s.clauseEnds(m.end, c.start) {
			return false
		}
		if m.class&spent == spent {
			o.note(-5, m)
		}
		return true
	})
}

// clauseEnds says whether a comma, colon or semicolon stands between two places,
// which the colon of a time is not.
func (s *scoring) clauseEnds(from, to int) bool {
	for i := from; i < min(to, from+2*maxWord); i++ {
		switch s.p.low[i] {
		case ':':
			if !isDigit(at(s.p.low, i+1)) {
				return true
			}
		case ',', ';', '،', '、', '؛':
			return true
		}
	}
	return false
}
