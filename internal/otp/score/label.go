package score

import (
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// Whether a noun, known or not, says what a number is.

// hasNoLabel reports whether no noun stands before a number that would say what it
// is: it opens the line or clause, or a short word leads to it, such as "is",
// "with", "mit".
func (s *scoring) hasNoLabel(c *candidate) bool {
	i := c.start - 1
	for i >= 0 && (s.p.Low[i] == ' ' || s.p.Low[i] == '"' || s.p.Low[i] == '“' || s.p.Low[i] == '«' || s.p.Low[i] == '_') {
		i--
	}
	if i < 0 || s.p.Kind[i]&page.Spaced == 0 {
		return i < 0 || s.p.Kind[i]&page.ScriptBits == page.Other && (s.p.Low[i] != ':' || s.hasLeadIn(c, i))
	}
	start := s.p.WordStart(i)
	return i+1-start <= 5 && !(i > start && unicode.IsUpper(s.p.Raw[start]) && unicode.IsUpper(s.p.Raw[i]))
}

// hasLeadIn reports whether more leads to the colon before a number than its label: words
// of a sentence, and not those of an item of a list, in which commas part what
// other colons lead to.
func (s *scoring) hasLeadIn(c *candidate, colon int) bool {
	from := max(s.p.Lines[c.line].Start, colon-page.MaxWord)
	item := from
	for i := colon - 1; i > from; i-- {
		switch s.p.Low[i] {
		case ',', ';', '，', '、', '،', '؛':
			if item == from {
				item = i
			}
		case ':':
			from = max(from, item)
		}
	}
	return s.p.Span(from, colon).Words >= 3
}

// colon is where the colon or the like stands that leads to a tied number.
func (s *scoring) colon(c *candidate) int {
	i := c.start - 1
	for i > 0 && i > c.start-5 && s.p.Kind[i]&page.ScriptBits == page.Other && s.p.Low[i] != ':' {
		i--
	}
	return i
}

// hasUnknownWord reports whether an unknown word stands beside the word for a code: it says
// which code that is.
func (s *scoring) hasUnknownWord(c *candidate) bool {
	return s.p.Marks[c.name.mark].End <= c.start && s.hasQualifier(c.name.mark, c) || s.unknownWord(c, c.name.mark) > 0 || c.around.isLastingPassword(&s.p.Marks[c.name.mark])
}

// isLabelled reports whether a candidate and one to three words before it, none of
// them known, are a sentence that follows another: "Referencia 884213."
func (s *scoring) isLabelled(c *candidate) bool {
	l := &s.p.Lines[c.line]
	if c.lone || c.groups > 1 || s.p.EmphasisOf(c.start, c.end, c.spans) != page.PlainText || !s.endsLine(c) && page.At(s.p.Low, c.end) != ',' {
		return false
	}
	from := s.sentenceStart(c)
	if from == l.Start && (c.line == 0 || s.p.Lines[c.line-1].Part != l.Part) || c.mark > 0 && s.p.Marks[c.mark-1].End > from {
		return false
	}
	words := s.p.Span(from, c.start).Words
	return words >= 1 && words <= 3
}

// sentenceStart is where the sentence of a candidate begins, on its line.
func (s *scoring) sentenceStart(c *candidate) int {
	l := &s.p.Lines[c.line]
	for i := c.start - 1; i > l.Start && i > c.start-page.MaxWord; i-- {
		if s.p.Span(i, i+1).Sentences > 0 {
			return i + 1
		}
	}
	return l.Start
}

// isQuantity reports whether a noun of the lexicon follows a number at once, which then
// says how many there are: "20448 accounts".
func (s *scoring) isQuantity(c *candidate) bool {
	if c.mark >= len(s.p.Marks) {
		return false
	}
	m := &s.p.Marks[c.mark]
	return m.Start > c.end && m.Class&(lexicon.Auth|lexicon.Not|lexicon.Where) != 0 && m.Class&lexicon.Use == 0 && s.p.Span(c.end, m.Start) == page.Gap{}
}
