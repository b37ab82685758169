package otp

// What the place of a number says in any language: whether it is the only one,
// opens the subject, fills boxes, is crossed out, or stands beside a word for
// the field it goes into.

// place weighs where in its sentence and markup a candidate stands.
func (s *scoring) place(k int) {
	c := &s.cs[k]
	switch s.p.dressed(c, c.spans) {
	case struckText:
		s.add(c, -6, "crossed out")
		c.old = true
	case strongText:
		if !s.p.lines[c.line].large {
			s.add(c, 0.5, "set apart")
		}
	}
	if s.mood.silent() && !c.told && s.handedOver(k) {
		s.add(c, -3, "to be told to somebody")
	}
	if !c.told && s.secretOf(k) {
		s.add(c, -5, "the secret of the long number before it")
	}
	if s.goesInto(k) {
		s.add(c, 1, "beside the field it goes into")
		c.field = true
	}
}

// goesInto says whether the sentence names the place where a code is typed:
// "… in the app", "… on the sign-in page".
func (s *scoring) goesInto(k int) bool {
	found := false
	near := func(l look) bool {
		if l.gap.words > 8 || l.gap.sentences+l.gap.hard > 0 {
			return false
		}
		found = found || s.p.marks[l.mark].class&classWhere != 0
		return !found
	}
	if s.rightOf(k, near); !found {
		s.leftOf(k, near)
	}
	return found
}

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

// handedOver says whether the sentence asks to tell the number to a person: a
// driver, a clerk.
func (s *scoring) handedOver(k int) bool {
	found := false
	near := func(l look) bool {
		if l.gap.words > 5 || l.gap.sentences+l.gap.hard > 0 {
			return false
		}
		found = found || s.p.marks[l.mark].class&classTell != 0
		return !found
	}
	if s.leftOf(k, near); !found {
		s.rightOf(k, near)
	}
	return found
}

// secretOf says whether a long number in groups stands right before the label
// of a candidate, as do a meeting and its password, or a gift card and its PIN.
func (s *scoring) secretOf(k int) bool {
	if k == 0 || s.mood.auth-s.mood.label+s.mood.guard+s.mood.once > 0 && s.mood.void == 0 {
		return false
	}
	o, c := &s.cs[k-1], &s.cs[k]
	if o.kind != Numeric || s.cs[k-1].line > c.line || c.line-o.line > 2 || s.groupsIn(o) < 3 || s.phone(o) {
		return false
	}
	g := s.p.span(o.end, c.start)
	return g.words > 0 && g.words <= 4 && g.sentences == 0 && (g.soft+g.hard > 0 || s.parted(o.end, c.start))
}

// groupsIn counts the groups of a number of nine digits and more.
func (s *scoring) groupsIn(c *candidate) int {
	digits, groups := 0, 0
	for i := c.start; i < c.end; i++ {
		if isDigit(s.p.low[i]) {
			if digits++; i == c.start || !isDigit(s.p.low[i-1]) {
				groups++
			}
		}
	}
	if digits < 9 {
		return 0
	}
	return groups
}

// phone says whether a number is written as those of telephones are.
func (s *scoring) phone(c *candidate) bool {
	return at(s.p.low, c.start-1) == '+' || s.p.low[c.start] == '0' && s.p.low[c.start+1] != ' '
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
