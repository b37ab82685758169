package otp

// What a word beside a number is worth.
const (
	gainCode = 6.0 // it names a one-time code
	gainWord = 4.0 // it may
	lossNot  = -6.0
	lossVoid = -7.0
)

// bind ties a candidate to the best word that names a code, on either side.
func (s *scoring) bind(k int) {
	c := &s.cs[k]
	tie := s.tied(c)
	best, mark := 0.0, -1
	var why string
	s.p.leftOf(s.cs, k, func(l look) bool {
		m := s.p.marks[l.mark]
		if m.class&classIs != 0 && l.gap.words == 0 && l.gap.sentences == 0 {
			tie = true
		}
		if m.class&(classCode|classWord) == 0 {
			return true
		}
		if v := s.worth(c, l, tie); v > best {
			best, mark, why = v, l.mark, "after"
		}
		return l.gap.numbers < 2
	})
	is := false
	s.p.rightOf(s.cs, k, func(l look) bool {
		m := s.p.marks[l.mark]
		if m.class&classIs != 0 && l.gap.words == 0 {
			is = true
		}
		if m.class&(classCode|classWord) == 0 {
			return l.gap.sentences == 0
		}
		v := s.worth(c, l, false)
		if is {
			v += 1.5
		}
		if v > best {
			best, mark, why = v, l.mark, "before"
		}
		return l.gap.numbers < 1 && l.gap.sentences < 1
	})
	c.anchor, c.gain = mark, best
	if mark >= 0 {
		s.because(c, best, why, s.p.marks[mark])
	}
	s.used(k)
	if c.kind == Alphanumeric && !s.evident(c, best, tie) {
		s.add(c, -4, "letters without strong evidence")
	}
	if s.domainBound(c) {
		s.add(c, 8, "bound to a domain")
	}
}

// tied says whether a colon or an equals sign leads to the candidate.
func (s *scoring) tied(c *candidate) bool {
	for i := c.start - 1; i >= 0 && i >= c.start-5; i-- {
		switch r := s.p.low[i]; r {
		case ':', '=', '：', '>', '→', '➡', '–':
			return true
		case ' ', '*', '"', '\'', '«', '“', '「', '【', '[', '(', cellBreak, softBreak, hardBreak, '-', '#':
		default:
			return false
		}
	}
	return false
}

// worth is what one word gives to a candidate, less for every word, sentence
// and number between them.
func (s *scoring) worth(c *candidate, l look, tie bool) float64 {
	m, g := s.p.marks[l.mark], l.gap
	gain := gainWord
	if m.class&classCode != 0 {
		gain = gainCode
	} else if s.owned(l.mark) {
		return 0
	}
	words, sentences := float64(g.words), float64(g.sentences)
	breaks := float64(g.hard) + 0.2*float64(g.soft)
	var cost float64
	switch {
	case l.left && c.lone:
		cost = 0.04*words + 0.4*sentences + 0.4*max(0, breaks-1)
	case l.left:
		cost = 0.22*words + 1.6*sentences + 0.9*breaks
	case c.lone:
		cost = 0.5 + 0.25*words + 1.5*sentences + 0.7*max(0, breaks-1)
	default:
		cost = 0.5 + 0.3*words + 3*sentences + 2*breaks
	}
	cost += 3 * float64(g.numbers)
	if tie && l.left {
		return max(0, gain-0.7*cost+0.7)
	}
	return max(0, gain-cost)
}

// owned says whether a weak word belongs to a noun beside it: "order code".
func (s *scoring) owned(m int) bool {
	k := s.p.marks[m]
	for _, o := range []int{m - 1, m + 1} {
		if o < 0 || o >= len(s.p.marks) || s.p.marks[o].class&(classNot|classVoid) == 0 {
			continue
		}
		n := s.p.marks[o]
		from, to := min(k.end, n.end), max(k.start, n.start)
		if g := s.p.span(gap{}, from, to); g.words <= 1 && g.sentences+g.hard+g.cells == 0 && to-from < 16 {
			return true
		}
	}
	return false
}

// used adds what an imperative gives: "enter 123456".
func (s *scoring) used(k int) {
	c := &s.cs[k]
	near := func(l look) bool {
		if s.p.marks[l.mark].class&classUse != 0 && l.gap.words <= 1 && l.gap.sentences+l.gap.hard == 0 {
			s.because(c, 1.5, "told to", s.p.marks[l.mark])
			return false
		}
		return l.gap.words <= 1
	}
	s.p.leftOf(s.cs, k, near)
	s.p.rightOf(s.cs, k, near)
}

// evident says whether letters are bound tightly enough to be a code.
func (s *scoring) evident(c *candidate, gain float64, tie bool) bool {
	if c.letters {
		return gain > 3 && (tie || c.lone) && !s.known(c)
	}
	if c.upper {
		return gain >= 3
	}
	return gain >= 3 && (tie || c.lone)
}

// known says whether a word is in the lexicon: VERIFY on a button.
func (s *scoring) known(c *candidate) bool {
	for _, m := range s.p.marks {
		if m.start < c.end && c.start < m.end {
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
