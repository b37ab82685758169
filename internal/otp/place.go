package otp

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
	if s.secretOf(k) {
		s.add(c, -5, "the secret of the long number before it")
		if c.told {
			c.against -= 4 // into the program, not the page
		}
	}
	if s.quoted(c) {
		s.add(c, -8, "in a sentence that is quoted")
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
	if k == 0 || s.mood.guard+s.mood.once > 0 && s.mood.void == 0 {
		return false
	}
	o, c := &s.cs[k-1], &s.cs[k]
	serial := o.veto != "" && at(s.p.low, o.start+4) == '-' // 7193-6071-9360, of a product
	if !serial && (c.told || s.mood.auth-s.mood.label > 0 && s.mood.void == 0) {
		return false
	}
	if o.kind != Numeric || s.cs[k-1].line > c.line || c.line-o.line > 2 || s.groupsIn(o) < 3 || s.phone(o) {
		return false
	}
	g := s.p.span(o.end, c.start)
	return g.words > 0 && g.words <= 4 && g.sentences <= s.semicolons(o.end, c.start) && (g.soft+g.hard > 0 || serial && g.words <= 3 || s.parted(o.end, c.start))
}

// semicolons counts those between two places, which part what is listed and end
// no sentence.
func (s *scoring) semicolons(from, to int) (n int) {
	for i := from; i < min(to, from+maxWord); i++ {
		if s.p.low[i] == ';' {
			n++
		}
	}
	return n
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
