package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// A name is the word that names a number.
type name struct {
	mark      int // -1: there is none
	closeness closeness
	behind    bool // the number
	led       bool // a colon, an equals sign or an "is" leads to the number
	said      bool // a dash, colon or "is" follows it
}

// nameOf finds the word that names a candidate most closely, on either side.
func (s *scoring) nameOf(k int) name {
	c := &s.cs[k]
	n := s.secretName(c)
	n.led = c.tie
	s.leftOf(k, lexicon.Is|named, func(l nearWord) bool {
		m := &s.p.Marks[l.mark]
		if m.Class&lexicon.Is != 0 && l.gap.Words == 0 && l.gap.Sentences == 0 {
			n.led = true
		}
		if m.Class&named == 0 {
			return true
		}
		n.take(s.closenessOf(c, l, n.led), l)
		return l.gap.numbers < 2
	})
	n.said = s.dashAfter(c)
	s.rightOf(k, anyClass, func(l nearWord) bool {
		m := &s.p.Marks[l.mark]
		n.said = n.said || m.Class&lexicon.Is != 0 && l.gap.Words == 0 && l.gap.Sentences == 0
		if m.Class&named == 0 || s.namesNext(k, l.mark) {
			return l.gap.Sentences == 0
		}
		v := s.closenessOf(c, l, n.said)
		if n.said {
			v += saidAfter
		}
		n.take(v, l)
		return l.gap.numbers < 1 && l.gap.Sentences < 1
	})
	if n.closeness > notFar && n.closeness < pairName && s.subject.name == codeName && s.p.Lines[c.line].Part != page.InSubject {
		n.closeness += subjectBacks
	}
	return n
}

// take prefers a word that names the number more closely.
func (n *name) take(v closeness, l nearWord) {
	if v > n.closeness {
		n.closeness, n.mark, n.behind = v, l.mark, !l.left
	}
}

// isPriced reports whether a name says for which price the code is: "code for your purchase of €20: 482913".
func (s *scoring) isPriced(c *candidate) bool {
	n := &c.name
	return n.mark >= 0 && !n.behind && n.led && s.p.Span(s.p.Marks[n.mark].End, c.start).Words > 3
}

// inherit gives a candidate the name of a code in the subject.
func (s *scoring) inherit(c *candidate) {
	c.inherited = max(0, s.inheritance()-c.closeness())
}

// closeness says how closely a candidate is named, in the text or the subject.
func (c *candidate) closeness() closeness { return c.name.closeness + c.inherited }

// isNamed reports whether a name of a one-time code is right beside a candidate.
func (s *scoring) isNamed(c *candidate) bool {
	return c.name.closeness >= firm && s.p.Marks[c.name.mark].Class&lexicon.Code != 0
}

// isNamedExample reports whether something names the digits of an example: mails of a service under
// test hold such codes.
func (s *scoring) isNamedExample(c *candidate) bool {
	return c.example && c.groups == 1 && (c.name.closeness >= wordName && (c.name.led || c.name.said) || c.inherited > 0)
}

// isNamedWord reports whether a word with a number at its end ("REED27") is no promotion:
// a strong name of a code is tied to it, or stands on the line
// above and asks to enter it in order to sign in, and nothing near speaks of other codes, or of orders without signing in.
func (s *scoring) isNamedWord(c *candidate) bool {
	tied := c.name.led || c.name.said || s.namedBefore(c)
	if c.form != wordAndNumber || c.name.closeness < firm || !tied && !(c.lone && s.isIntroduced(c)) || c.around.void > 0 || c.around.auth == 0 && c.around.not > 0 {
		return false
	}
	asked := c.lone && c.around.auth > 0 && c.around.not == 0 && s.instructedAbove(c)
	m := &s.p.Marks[c.name.mark]
	return (m.Class&lexicon.Code != 0 || s.isBeside(c.name.mark, lexicon.Auth) || asked) && (m.Class&lexicon.Once == 0 || c.around.auth > 0)
}

// namesNext reports whether a word behind a candidate stands right before another one,
// of which it is the name: "for 253-879-770 the code is 482913".
func (s *scoring) namesNext(k, mark int) bool {
	m := &s.p.Marks[mark]
	for n := k + 1; n < len(s.cs) && n <= k+4; n++ {
		if o := &s.cs[n]; o.start >= m.End {
			return o.veto == "" && (o.kind == Numeric || o.mixed) && s.p.Span(m.End, o.start) == page.Gap{} && s.p.Span(s.cs[k].end, m.Start).Words > 0
		}
	}
	return false
}

// hasLabel reports whether words on a candidate's own line stand before it, which what ties
// it to its name belongs to, and not a word on a line above: “API key created”, and below
// it “Audit record: 1188402”.
func (s *scoring) hasLabel(c *candidate, l nearWord) bool {
	start := s.p.Lines[c.line].Start
	return s.p.Marks[l.mark].End <= start && s.p.Span(start, c.start).Words > 0
}

// isOneTimeApproval reports whether a word for one use stands in brackets right behind the name of an
// approval, which then is no number of a receipt: "Approval code (single use): 774310".
func (s *scoring) isOneTimeApproval(m int) bool {
	if m == 0 || s.p.Marks[m-1].Class&lexicon.Approval == 0 || page.At(s.p.Low, s.p.Marks[m].Start-1) != '(' {
		return false
	}
	return s.p.Span(s.p.Marks[m-1].End, s.p.Marks[m].Start) == page.Gap{}
}

// isLastingPassword reports whether a word for a code is one for a password, and the mail does
// not say that it is for one use or a short time, or what else to do with it.
func (t *topic) isLastingPassword(m *lexicon.Mark) bool {
	const password = lexicon.Word | lexicon.Auth
	return m.Class&password == password && t.hasNoUse()
}

// orderedBefore reports whether an order to enter it stands right before a word for a code: "enter the deletion code".
func (s *scoring) orderedBefore(m int) bool {
	if m == 0 || s.p.Marks[m-1].Class&lexicon.Use == 0 {
		return false
	}
	g := s.p.Span(s.p.Marks[m-1].End, s.p.Marks[m].Start)
	return g.Words <= 1 && g.Sentences+g.Hard+g.Soft == 0
}

// namesBetween counts the words of a service's name between a word and a number in one
// sentence, which are no distance: "your code for Pine Mobile is". Behind letters and
// digits that open a line, a host or capitals are such a name too: "K7P2XD is your OAK24
// code".
func (s *scoring) namesBetween(c *candidate, l nearWord) int {
	m := &s.p.Marks[l.mark]
	opens := !l.left && c.mixed && c.start == s.p.Lines[c.line].Start
	switch {
	case l.gap.Words == 0 || l.gap.Sentences+l.gap.Hard+l.gap.numbers > 0 || l.gap.figures > 0 && !opens:
		return 0
	case l.left:
		return min(2, s.p.CountNames(m.End, c.start, l.mark, false))
	}
	return min(2, s.p.CountNames(c.end, m.Start, c.mark, opens))
}
