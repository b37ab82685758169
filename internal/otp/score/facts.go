package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// facts are what a mail says of a candidate. They are found before any is weighed, and are
// not changed by the weights.
type facts struct {
	line   int  // index of its line
	spans  int  // how many spans begin before it
	mark   int  // index of the first mark after its start
	tie    bool // a colon or an "is" ties it to the words before it
	around *surroundings
	hood   int // the index of those

	owner      owner
	name       name
	inherited  closeness // what the subject adds to that of its name
	excused    bool      // a word names what is an example or looks like a promotion otherwise
	order      order
	emphasis   page.Emphasis
	old        bool // crossed out, or a word says that it is no longer good
	named      bool // a name of a one-time code is right beside it
	field      bool // a word for the field it goes into is near
	objections objection
}

// look finds what the mail says of a candidate beside its owner.
func (s *scoring) look(k int) {
	c := &s.cs[k]
	c.name = s.nameOf(k)
	c.named = s.isNamed(c)
	c.excused = s.isNamedExample(c) || s.isNamedWord(c)
	c.order = s.orderOf(k)
	if (c.lone || c.isTold() || c.name.led) && c.owner.kind == unowned && s.p.Lines[c.line].Part != page.InSubject {
		s.inherit(c)
		c.excused = c.excused || s.isNamedExample(c)
	}
	c.emphasis = s.p.EmphasisOf(c.start, c.end, c.spans)
	c.old = c.owner.isSpent() || c.emphasis == page.StruckText
	c.field = s.goesInto(k)
	c.objections = s.objectionsTo(k)
	c.veto = s.doubt(c)
}

// doubt gives a veto to what is sooner something else, such as thousands, unless a word names it.
func (s *scoring) doubt(c *candidate) string {
	switch {
	case !c.pointed:
	case !c.isTold() && (c.closeness() <= notFar || c.closeness() < closeBy && !c.name.led && !c.lone):
		return aFigure
	case c.size == 7 && (c.name.mark < 0 || c.closeness() < closeBy || s.p.Marks[c.name.mark].Class&(lexicon.Code|lexicon.Word) == 0):
		return aPhoneOrAccount
	}
	return ""
}
