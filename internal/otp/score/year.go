package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// Whether four digits that read as a year of our time are one.

// isYear reports whether four digits are a year: in a date whose month
// is written out, and in a subject that does not say what they are: "OTP report 2026".
func (s *scoring) isYear(c *candidate) bool {
	tied := c.name.led || c.name.said
	return s.isYearOfDate(c) || (!tied || s.isTitleYear(c)) && !c.lone && s.p.Lines[c.line].Part == page.InSubject
}

// isTitleYear reports whether words follow a year that are no part of what is said of a code:
// "OTP 2026: what is new", "OTP: 2026 figures".
func (s *scoring) isTitleYear(c *candidate) bool {
	l := &s.p.Lines[c.line]
	next := page.At(s.p.Low, c.end)
	if next != ':' && next != ' ' || s.p.Span(c.end, l.End).Words == 0 {
		return false
	}
	m := s.markAfter(c)
	if next == ':' {
		return !s.isLedTo(c) && (m == nil || m.Start >= l.End || m.Class&(lexicon.Code|lexicon.Word) == 0)
	}
	const nouns = lexicon.Word | lexicon.Digits | lexicon.Number | lexicon.Not
	return s.p.Kind[c.end+1]&page.Spaced != 0 && (m == nil || m.Start > c.end+1 || m.Class&^nouns == 0)
}

// isYearOfDate reports whether a number is the year of a date whose month is written out:
// "4 November 2026", "Nov 4, 2026". It is not another number of the mail.
func (s *scoring) isYearOfDate(c *candidate) bool {
	const far = 20
	if c.form != fourDigits || c.likeness() > unlikely {
		return false
	}
	digits, names := 0, false
	for i := c.start - 1; i > 0 && i > c.start-far && !s.p.isSegmentEnd(i) || page.At(s.p.Low, i) == ',' && i > c.start-3; i-- {
		switch {
		case page.IsDigit(s.p.Low[i]):
			digits++
		case s.p.Kind[i]&(page.Spaced|page.Dense) != 0:
			names = true
		}
	}
	return names && digits > 0 && digits <= 2
}
