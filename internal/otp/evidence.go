package otp

// isAfter says whether a verb that ends the sentence follows: "… 123456 है".
func (s *scoring) isAfter(k int) bool {
	found := false
	s.rightOf(k, func(l look) bool {
		m := &s.p.marks[l.mark]
		found = m.class&classIs != 0 && l.gap.words == 0 && l.gap.sentences+l.gap.hard == 0 && s.closes(m.end)
		return false
	})
	return found
}

// closes says whether no word follows in the sentence.
func (s *scoring) closes(i int) bool {
	for ; i < len(s.p.low); i++ {
		switch s.p.low[i] {
		case ' ', '"', '”', '»':
		default:
			return s.p.kind[i]&scriptBits == other
		}
	}
	return true
}

// dashAfter says whether a dash or colon follows: "123456 — your code".
func (s *scoring) dashAfter(c *candidate) bool {
	i := c.end
	if at(s.p.low, i) == ' ' {
		i++
	}
	r, next := at(s.p.low, i), at(s.p.low, i+1)
	return (r == '-' || r == ':' || r == '=') && next == ' '
}

// ends says whether a candidate ends its sentence or line.
func (s *scoring) ends(c *candidate) bool {
	switch r := at(s.p.low, c.end); r {
	case softBreak, hardBreak, cellBreak, 0, '。', '।', '۔', '။', '។', '։', '።', '!', '！':
		return true
	case '.':
		return s.p.sentenceEnd(c.end)
	}
	return false
}

// tied says whether a colon or an equals sign leads to the candidate.
func (s *scoring) tied(c *candidate) bool {
	for i := c.start - 1; i >= 0 && i >= c.start-5; i-- {
		switch r := s.p.low[i]; r {
		case ':', '=', '：', '>', '→', '➡', '–':
			return true
		case ' ', '*', '_', '"', '\'', '«', '“', '「', '【', '[', '(', cellBreak, softBreak, hardBreak, '-', '#':
		default:
			return false
		}
	}
	return false
}

// evident says whether letters are bound tightly enough to be a code.
func (s *scoring) evident(c *candidate, gain float64, tie bool) bool {
	if c.letters {
		return gain > 3 && (tie || c.lone) && (c.boxed || !s.known(c)) && at(s.p.low, c.end) != ':'
	}
	if c.upper {
		return gain >= 3 || gain > 1 && c.mixed && c.start == s.p.lines[c.line].start || s.opens(c) && s.mood.not+s.mood.void == 0 || c.told && (c.mixed || s.mood.auth > 0)
	}
	return gain >= 3 && (tie || c.lone)
}

// opening is where a line begins to say something: in a subject that is after a
// sign, and after the name of the sender in brackets or before a colon.
func (p *page) opening(l *line) int {
	const far = 40
	if l.part != inSubject {
		return l.start
	}
	end := min(l.end, l.start+far)
	i := p.afterSigns(l.start, end)
	for j := i; j < end; j++ {
		switch r := p.low[j]; {
		case isDigit(r):
			return i
		case r == ']' || r == ')' || r == '】' || r == ':' && p.span(i, j).words <= 3:
			if k := p.markFrom(i, 0); k < len(p.marks) && p.marks[k].start < j {
				return i // it names something
			}
			return p.afterSigns(j+1, end)
		}
	}
	return i
}

// afterSigns is the first letter or digit from a place on, or the end.
func (p *page) afterSigns(i, end int) int {
	for i < end && p.kind[i]&scriptBits == other {
		i++
	}
	return i
}

// opens says whether letters and digits are the first of the subject.
func (s *scoring) opens(c *candidate) bool {
	l := &s.p.lines[c.line]
	return c.upper && !c.letters && l.part == inSubject && c.start == s.p.opening(l) && !c.lone
}

// known says whether a word is in the lexicon: VERIFY on a button.
func (s *scoring) known(c *candidate) bool {
	for i := max(0, c.mark-1); i < len(s.p.marks) && s.p.marks[i].start < c.end; i++ {
		if s.p.marks[i].end > c.start {
			return true
		}
	}
	return false
}

// domainBound recognises the last line of a domain-bound code: @host #123456.
func (s *scoring) domainBound(c *candidate) bool {
	low := s.p.low
	i := c.start - 1
	if at(low, i) != '#' || at(low, i-1) != ' ' {
		return false
	}
	dot := false
	for i -= 2; i >= 0 && c.start-i < 256; i-- {
		switch r := low[i]; {
		case r == '@':
			return dot && (i == 0 || low[i-1] <= ' ')
		case r == '.':
			dot = true
		case !isAlnum(r) && r != '-':
			return false
		}
	}
	return false
}
