package score

import (
	"slices"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// Features of the punctuation and symbols of a text, in any language: whether it
// quotes a third party, or sells something.

// isQuoted reports whether the word for a code and the number stand in the same
// quotation marks: the mail shows a third party's words, as in a warning about
// fraud. A number alone in quotation marks is one to be copied.
func (s *scoring) isQuoted(c *candidate) bool {
	if c.name.mark < 0 {
		return false
	}
	m := &s.p.Marks[c.name.mark]
	if m.End > c.start || !s.isQuoteClosed(c.end) {
		return false
	}
	if slices.ContainsFunc(s.p.Low[m.End:c.start], isQuotationMark) {
		return false
	}
	for i := m.Start - 1; i >= 0 && i > m.Start-page.MaxWord; i-- {
		switch r := s.p.Low[i]; {
		case isQuotationMark(r):
			return true
		case r == page.SoftBreak, r == page.HardBreak, r == page.CellBreak:
			return false
		}
	}
	return false
}

// isQuoteClosed reports whether a quotation ends shortly after a place.
func (s *scoring) isQuoteClosed(i int) bool {
	for _, r := range s.p.Low[i:min(len(s.p.Low), i+page.MaxWord)] {
		switch {
		case isQuotationMark(r):
			return true
		case r == page.SoftBreak, r == page.HardBreak, r == page.CellBreak:
			return false
		}
	}
	return false
}

// isQuotationMark reports whether r is a quotation mark and no apostrophe.
func isQuotationMark(r rune) bool {
	switch r {
	case '"', '“', '”', '„', '«', '»', '「', '」', '『', '』':
		return true
	}
	return false
}

// offers reports whether a share of something and whether a price is named. Footers
// and what is quoted do not count.
func (p *Reading) offers(t neighbourhood) (share, price bool) {
	for i := 0; i < len(p.Lines); i++ {
		l := &p.Lines[i]
		if !t.all && l.Part != page.InSubject && l.End <= t.from {
			i = p.LineAt(t.from)
			l = &p.Lines[i]
		}
		if !t.all && l.Start >= t.to {
			break
		}
		if l.Foot || l.Quoted {
			continue
		}
		for j := p.NextIn(l.Start, l.End, page.OfferBit); j < l.End; j = p.NextIn(j+1, l.End, page.OfferBit) {
			switch r := p.Low[j]; {
			case !t.has(j, l.Part) || !t.isClose(j, l.Part):
			case r == '%', r == '٪':
				share = true
			case !page.IsCurrencyLetter(r) || page.IsDigit(page.At(p.Low, j-1)):
				price = true
			}
		}
	}
	return share, price
}

// ownerSpent looks further in the sentence for a word that says the code is no
// longer good, over whatever else is told of it: "123456, which you asked for at
// 10:20, has expired", "you used the code 123456". A report without an order says so
// too: "the device was linked with the code 123456". After a comma another may be meant.
func (s *scoring) ownerSpent(k int, o *owner) {
	const spent = lexicon.Old | lexicon.Done
	c := &s.cs[k]
	s.rightOf(k, spent|lexicon.Brief, func(l nearWord) bool {
		m, g := &s.p.Marks[l.mark], l.gap
		if g.Sentences+g.Soft+g.Hard > 0 || g.Words > 16 || m.Class&lexicon.Brief != 0 || s.clauseEnds(c.end, m.Start) {
			return false
		}
		if m.Class&lexicon.Old != 0 || m.Class&lexicon.Not == 0 && g.Words == 0 {
			o.note(bySpent, m)
		}
		return true
	})
	asked := false
	s.leftOf(k, spent|lexicon.Use, func(l nearWord) bool {
		const near, far = 4, 8
		m, g := &s.p.Marks[l.mark], l.gap
		if g.Sentences+g.Soft+g.Hard > 0 || g.Words > far || s.clauseEnds(m.End, c.start) {
			return false
		}
		switch {
		case m.Class&spent == spent && g.Words <= near, m.Class&lexicon.Done != 0 && g.Words > 1 && g.figures == 0 && !asked:
			o.note(bySpent, m)
		case m.Class&lexicon.Use != 0:
			asked = true
		}
		return true
	})
}

// clauseEnds reports whether a comma, colon or semicolon stands between two places,
// which the colon of a time is not.
func (s *scoring) clauseEnds(from, to int) bool {
	for i := from; i < min(to, from+2*page.MaxWord); i++ {
		switch s.p.Low[i] {
		case ':':
			if !page.IsDigit(page.At(s.p.Low, i+1)) {
				return true
			}
		case ',', ';', '،', '、', '؛':
			return true
		}
	}
	return false
}
