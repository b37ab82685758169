package otp

// oppose finds the words that own a number and make it no code.
func (s *scoring) oppose(k int) {
	c := &s.cs[k]
	if c.veto != "" {
		return
	}
	c.against = 0
	worst := mark{}
	note := func(n float64, m mark) {
		if n < c.against {
			c.against, worst = n, m
		}
	}
	s.p.leftOf(s.cs, k, func(l look) bool {
		m, g := s.p.marks[l.mark], l.gap
		switch {
		case g.sentences > 0 || g.words > 6 || g.hard > 1 || g.hard == 1 && !c.lone:
			return false
		case m.class&(classCode|classWord) != 0 && !s.owned(l.mark):
			return false
		case m.class&classOld != 0:
			note(-5, m)
		case m.class&(classNot|classVoid) != 0:
			note(nearness(m, g, c), m)
		}
		return true
	})
	s.p.rightOf(s.cs, k, func(l look) bool {
		m, g := s.p.marks[l.mark], l.gap
		switch {
		case g.sentences > 0 || g.words > 5 || g.hard > 0:
			return false
		case m.class&classUnit != 0 && g.words == 0 && g.cells == 0 && g.soft == 0:
			note(-7, m)
		case m.class&classOld != 0:
			note(-5, m)
		case m.class&(classCode|classWord) != 0:
			return false
		case m.class&(classNot|classVoid) != 0 && g.words <= 1 && g.cells == 0 && !s.tied(c):
			note(-3.5, m)
		}
		return true
	})
	if m := s.p.low; at(m, c.start-1) == '#' && !s.domainBound(c) {
		c.against = min(c.against, -1.5)
	}
	if c.against < 0 && s.explain && worst.end > 0 {
		c.reasons = append(c.reasons, "it belongs to “"+s.p.text(worst.start, worst.end)+"”")
	}
}

// nearness is what a noun takes from the number after it.
func nearness(m mark, g gap, c *candidate) float64 {
	full := lossNot
	if m.class&classVoid != 0 {
		full = lossVoid
	}
	switch {
	case g.words <= 2:
		return full
	case g.words <= 4:
		return full / 2
	}
	return full / 4
}
