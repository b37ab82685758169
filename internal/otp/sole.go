package otp

// What the place of a number says in any language: that it is the only one of its
// mail, that it opens the subject, or that no noun names it.

// free says whether nothing speaks against a candidate being the code.
func (s *scoring) free(c *candidate) bool {
	l := &s.p.lines[c.line]
	return c.veto == "" && c.against >= -1 && c.score > -3 && (c.shape > -0.6 || c.gain > 0) && !l.foot && !l.quoted && (c.kind == Numeric || c.mixed || s.opens(c))
}

// sole strengthens the one number of a mail that can be a code, when the mail
// says anything of codes or signing in, or the number is set as codes are.
func (s *scoring) sole() {
	m := &s.mood
	if m.never || m.void > 0 {
		return
	}
	var one, other uint64 // the value of the free numbers, and of what else there is
	replaced := false
	kind := Alphanumeric
	for k := range s.cs {
		c := &s.cs[k]
		switch v := s.p.sum(c); {
		case !s.free(c):
			replaced = replaced || c.old
			if c.kind == Numeric && c.veto == "" && !s.p.lines[c.line].foot {
				other++
			}
		case c.kind == Alphanumeric && kind == Numeric:
		case c.kind == Numeric && kind == Alphanumeric:
			one, kind = v, Numeric
		case one != 0 && one != v:
			return
		default:
			one = v
		}
	}
	for k := range s.cs {
		if c := &s.cs[k]; one != 0 && s.free(c) && s.p.sum(c) == one {
			s.single(c, other == 0)
			if replaced {
				s.add(c, 3.5, "in place of another")
			}
		}
	}
}

// single adds to the only number that can be the code.
func (s *scoring) single(c *candidate, alone bool) {
	m := &s.mood
	l := &s.p.lines[c.line]
	known := m.auth+m.guard > 0
	begins := c.start == l.start && !c.lone && m.not == 0 && (l.part == inSubject || alone && c.start == s.p.bounds[l.part][0])
	whole := c.lone && s.p.bounds[l.part] == [2]int{l.start, l.end + 1} && l.part != inSubject
	hint := known || whole || m.once+m.where > 0 || c.told || begins || m.subjectOnly && c.anchor < 0 && s.tied(c)
	if hint && c.shape >= 0 {
		s.add(c, 1, "the only number it can be")
	}
	if alone && (c.shape >= 0.5 || c.mixed) && (hint || c.boxed || l.large) {
		s.add(c, 0.5, "the only number at all")
	}
	if begins && c.shape >= 0 {
		s.add(c, 2.5, "begins the subject or the text")
	}
	if c.gain < 2 && c.shape >= 0 && c.size <= 6 && l.part != inSubject && c.kind == Numeric && s.by(c) {
		s.add(c, 1.5, "signing in by it")
	}
	if whole && c.shape >= 0 {
		s.add(c, 2.5, "all the text there is")
	}
	if c.told {
		s.add(c, 0.3, "and told to")
	}
	if c.gain < 2 && !c.told && !c.field && !c.lone && !begins && !s.unlabelled(c) {
		s.add(c, -0.7, "an unknown word names it")
	}
	if alone && c.shape >= 0.5 && m.auth > 0 && m.guard+m.once > 0 && (c.gain >= 2 || c.told || s.unlabelled(c)) {
		s.add(c, 0.7, "the mail speaks of signing in and warns")
	}
	if alone && known && c.shape >= 0.5 && s.tied(c) && c.gain < 2 && s.p.span(l.start, c.start).words >= 3 {
		s.add(c, 2.2, "after a colon")
	}
	if alone && known && c.shape >= 0.5 && c.gain < 2 && !c.told && l.part != inSubject && s.unlabelled(c) && !s.counts(c) {
		s.add(c, 1.5, "nothing names it")
	}
	if alone && !hint && c.gain >= 2.5 && c.shape >= 1 && m.not+m.void == 0 && !m.done && !m.subjectTrade {
		s.add(c, 1, "and nothing else is spoken of")
	}
	if m.where > 1 && alone && hint {
		s.add(c, 0.8, "the mail speaks of fields to fill in")
	}
	if c.gain < m.subjectCode && l.part != inSubject && (known || c.shape >= 1) && !s.counts(c) {
		s.add(c, m.subjectCode-c.gain, "the subject names a code")
		c.gain = m.subjectCode
	}
}

// by says whether a word for signing in or for one use stands shortly before or
// after a candidate in its sentence: "Approve it with 771044."
func (s *scoring) by(c *candidate) bool {
	for o := c.mark - 1; o >= 0 && o >= c.mark-3; o-- {
		m := &s.p.marks[o]
		if g := s.p.span(m.end, c.start); g.words > 3 || g.sentences+g.hard+g.soft > 0 || s.parted(m.end, c.start) {
			break
		} else if m.class&(classAuth|classOnce) != 0 && (g.words > 0 || s.p.kind[m.from]&dense != 0) {
			return true
		}
	}
	for o := c.mark; o < len(s.p.marks) && o <= c.mark+1; o++ {
		m := &s.p.marks[o]
		if g := s.p.span(c.end, m.start); m.start < c.end || g.words > 2 || g.sentences+g.hard+g.soft > 0 {
			continue
		} else if m.class&classOnce != 0 {
			return true
		}
	}
	return false
}

// unlabelled says whether no noun stands before a number that would say what it
// is: it opens the line or clause, or a short word leads to it, such as "is",
// "with", "mit".
func (s *scoring) unlabelled(c *candidate) bool {
	i := c.start - 1
	for i >= 0 && (s.p.low[i] == ' ' || s.p.low[i] == '"' || s.p.low[i] == '“' || s.p.low[i] == '«') {
		i--
	}
	if i < 0 || s.p.kind[i]&spaced == 0 {
		return i < 0 || s.p.kind[i]&scriptBits == other && (s.p.low[i] != ':' || s.p.span(s.p.lines[c.line].start, i).words >= 3)
	}
	return i+1-s.p.wordStart(i) <= 5
}

// counts says whether a noun of the lexicon follows a number at once, which then
// says how many there are: "20448 accounts".
func (s *scoring) counts(c *candidate) bool {
	if c.mark >= len(s.p.marks) {
		return false
	}
	m := &s.p.marks[c.mark]
	return m.start > c.end && m.class&(classAuth|classNot|classWhere) != 0 && m.class&classUse == 0 && s.p.span(c.end, m.start) == gap{}
}
