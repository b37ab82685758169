package score

import (
	"math"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// scoring weighs the candidates of one page.
type scoring struct {
	p       *Reading
	cs      []candidate
	explain bool
	topic   topic // of the neighbourhood of the candidate that is weighed

	near      neighbourhood // of the last candidate
	nearTopic topic
	nearKnown bool // near and nearTopic are set
}

// add gives a candidate the weight of a feature.
func (s *scoring) add(c *candidate, f *feature) { s.sum(c, f.weight, f.text) }

// addTimes gives it the weight as often as the value of the feature says.
func (s *scoring) addTimes(c *candidate, f *feature, value float64) {
	s.sum(c, value*f.weight, f.text)
}

// sum gives it what several features come to.
func (s *scoring) sum(c *candidate, n float64, why string) {
	c.score += n
	if s.explain && n != 0 {
		c.reasons = append(c.reasons, reason(n, why))
	}
}

// because names the phrase that is the reason.
func (s *scoring) because(c *candidate, n float64, why string, m *lexicon.Mark) {
	if s.explain {
		why += " “" + s.p.Shown(m.Start, m.End) + "”"
	}
	s.sum(c, n, why)
}

// run scores every candidate.
func (s *scoring) run() {
	s.locate()
	s.findAddresses()
	s.topic = s.p.topicOf(neighbourhood{}) // an owner depends on what the subject says, and on no other topic
	for k := range s.cs {
		s.findOwner(k)
	}
	for k := range s.cs {
		c := &s.cs[k]
		if c.veto != "" {
			s.sum(c, vetoed.weight, c.veto)
			continue
		}
		if s.topicNear(c); s.nearTopic.figures == 0 {
			s.count(&s.nearTopic)
		}
		s.topic = s.nearTopic
		s.sum(c, c.shape, "shape")
		s.bind(k)
		s.emphasis(c)
		s.place(k)
		s.sum(c, c.against, "so it is no code")
		if s.explain {
			s.sum(c, s.topic.total(c), s.topic.String())
		} else {
			c.score += s.topic.total(c)
		}
	}
	s.share()
	s.agree()
	s.list()
	s.onlyOne()
}

// emphasis weighs how the candidate is set.
func (s *scoring) emphasis(c *candidate) {
	l := &s.p.Lines[c.line]
	if c.lone && l.Part != page.InSubject {
		s.add(c, aloneOnLine)
	}
	if c.letters && c.lone && l.Part != page.InSubject && l.Start == s.p.Bounds[l.Part][0] && l.End+1 < s.p.Bounds[l.Part][1] {
		s.add(c, heading)
	}
	if l.Large && c.lone {
		s.add(c, setLarge)
	}
	if c.size > 8 && l.InFoot(c.start) {
		s.add(c, inFooter)
	}
	if l.Quoted {
		s.add(c, inQuote)
	}
	if l.Link {
		s.add(c, linkText)
	}
}

// share lets each word belong to one number: the best, or the first.
func (s *scoring) share() {
	for k := range s.cs {
		c := &s.cs[k]
		if c.anchor < 0 || c.veto != "" {
			continue
		}
		if b := &s.p.Marks[c.anchor].Best; *b == 0 || c.score > s.cs[*b-1].score+clearly {
			*b = int32(k + 1)
		}
	}
	for k := range s.cs {
		c := &s.cs[k]
		if c.anchor >= 0 && c.veto == "" && s.p.Marks[c.anchor].Best != int32(k+1) {
			s.addTimes(c, wordTaken, c.gain)
		}
	}
}

// seen is what is known of one value throughout the mail.
type seen struct {
	sum   uint64 // of the value
	parts uint8
}

// agree strengthens a code that several parts of the mail give.
func (s *scoring) agree() {
	var all []seen
	for k := range s.cs {
		if c := &s.cs[k]; c.veto == "" {
			e := find(&all, s.p.sum(c))
			e.parts |= 1 << s.p.Lines[c.line].Part.Told()
		}
	}
	for k := range s.cs {
		c := &s.cs[k]
		if c.veto != "" {
			continue
		}
		e := find(&all, s.p.sum(c))
		if e.parts&(e.parts-1) != 0 {
			s.add(c, severalParts)
		}
	}
}

func find(all *[]seen, sum uint64) *seen {
	for i := range *all {
		if (*all)[i].sum == sum {
			return &(*all)[i]
		}
	}
	*all = append(*all, seen{sum: sum})
	return &(*all)[len(*all)-1]
}

// sum hashes the letters and digits of a candidate.
func (p *Reading) sum(c *candidate) uint64 {
	h := uint64(14695981039346656037)
	for _, r := range p.Low[c.start:c.end] {
		if page.IsAlnum(r) {
			h = (h ^ uint64(r)) * 1099511628211
		}
	}
	return h
}

// confidence maps a score to (0, 1).
func confidence(score float64) float64 {
	return math.Round(1000/(1+math.Exp(-(score-threshold+1)))) / 1000
}

// list recognises codes in rows: backup codes, of which none is the code.
func (s *scoring) list() {
	start := 0
	for k := 1; k <= len(s.cs); k++ {
		if k < len(s.cs) && s.follows(&s.cs[k-1], &s.cs[k]) {
			continue
		}
		if k-start >= 3 {
			for i := start; i < k; i++ {
				s.add(&s.cs[i], inRows)
			}
		}
		start = k
	}
}

// follows says whether two candidates of one form stand on lines one below
// the other.
func (s *scoring) follows(a, b *candidate) bool {
	i, j := a.line, b.line
	if j-i > 1 || a.size != b.size || a.groups != b.groups || a.kind != b.kind || a.veto != b.veto || s.p.Lines[i].Part != s.p.Lines[j].Part {
		return false
	}
	return (a.lone && b.lone && i != j || i == j && s.p.Span(a.end, b.start).Words == 0) && s.p.sum(a) != s.p.sum(b)
}
