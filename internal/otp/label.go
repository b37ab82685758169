package otp

import "unicode"

// Whether a noun, known or not, says what a number is.

// unlabelled says whether no noun stands before a number that would say what it
// is: it opens the line or clause, or a short word leads to it, such as "is",
// "with", "mit".
func (s *scoring) unlabelled(c *candidate) bool {
	i := c.start - 1
	for i >= 0 && (s.p.low[i] == ' ' || s.p.low[i] == '"' || s.p.low[i] == '“' || s.p.low[i] == '«' || s.p.low[i] == '_') {
		i--
	}
	if i < 0 || s.p.kind[i]&spaced == 0 {
		return i < 0 || s.p.kind[i]&scriptBits == other && (s.p.low[i] != ':' || s.led(c, i))
	}
	start := s.p.wordStart(i)
	return i+1-start <= 5 && !(i > start && unicode.IsUpper(s.p.raw[start]) && unicode.IsUpper(s.p.raw[i]))
}

// led says whether more leads to the colon before a number than its label: words
// of a sentence, and not those of an item of a list, in which commas part what
// other colons lead to.
func (s *scoring) led(c *candidate, colon int) bool {
	from := max(s.p.lines[c.line].start, colon-maxWord)
	item := from
	for i := colon - 1; i > from; i-- {
		switch s.p.low[i] {
		case ',', ';', '，', '、', '،', '؛':
			if item == from {
				item = i
			}
		case ':':
			from = max(from, item)
		}
	}
	return s.p.span(from, colon).words >= 3
}

// colon is where the colon or the like stands that leads to a tied number.
func (s *scoring) colon(c *candidate) int {
	i := c.start - 1
	for i > 0 && i > c.start-5 && s.p.kind[i]&scriptBits == other && s.p.low[i] != ':' {
		i--
	}
	return i
}

// strange says whether an unknown word stands beside the word for a code: it says
// which code that is.
func (s *scoring) strange(c *candidate) bool {
	return s.p.marks[c.anchor].end <= c.start && s.qualified(c.anchor, c) || s.estranged(c.anchor) > 0 || s.lasting(c.anchor)
}

// labelled says whether a candidate and one to three words before it, none of
// them known, are a sentence that follows another: "Referencia 884213."
func (s *scoring) labelled(c *candidate) bool {
	l := &s.p.lines[c.line]
	if c.lone || c.groups > 1 || s.p.dressed(c, c.spans) != plainText || !s.ends(c) && at(s.p.low, c.end) != ',' {
		return false
	}
	from := s.sentence(c)
	if from == l.start && (c.line == 0 || s.p.lines[c.line-1].part != l.part) || c.mark > 0 && s.p.marks[c.mark-1].end > from {
		return false
	}
	words := s.p.span(from, c.start).words
	return words >= 1 && words <= 3
}

// sentence is where the sentence of a candidate begins, on its line.
func (s *scoring) sentence(c *candidate) int {
	l := &s.p.lines[c.line]
	for i := c.start - 1; i > l.start && i > c.start-maxWord; i-- {
		if s.p.span(i, i+1).sentences > 0 {
			return i + 1
		}
	}
	return l.start
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
