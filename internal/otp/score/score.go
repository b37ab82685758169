package score

import (
	"math"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// scoring weighs the candidates of one page.
type scoring struct {
	p       *Reading
	cs      []candidate
	explain bool
	subject *subject
}

// run scores every candidate.
func (s *scoring) run() {
	s.locate()
	s.findAddresses()
	s.p.subject = s.p.subjectOf()
	s.subject = &s.p.subject
	s.lookAround()
	for k := range s.cs {
		s.cs[k].owner = s.ownerOf(k)
	}
	for i := range s.p.around {
		s.countOthers(&s.p.around[i])
	}
	for k := range s.cs {
		if s.cs[k].veto == "" {
			s.look(k)
		}
	}
	for k := range s.cs {
		s.weigh(k)
	}
	s.issues()
	s.share()
	s.agree()
	s.list()
	s.rejectSeveral()
	s.onlyOne()
}

// share lets each word belong to one number: the best, or the first.
func (s *scoring) share() {
	for k := range s.cs {
		c := &s.cs[k]
		if c.name.mark < 0 || c.veto != "" {
			continue
		}
		if b := &s.p.Marks[c.name.mark].Best; *b == 0 || c.isAheadOf(&s.cs[*b-1]) {
			*b = int32(k + 1)
		}
	}
	for k := range s.cs {
		c := &s.cs[k]
		if c.name.mark >= 0 && c.veto == "" && s.p.Marks[c.name.mark].Best != int32(k+1) {
			c.taken = true
			s.addTimes(c, wordTaken, c.closeness().gives())
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
			e.parts |= 1 << s.p.Lines[c.line].Part.Merged()
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

// follows reports whether two candidates of one form stand on lines one below
// the other.
func (s *scoring) follows(a, b *candidate) bool {
	i, j := a.line, b.line
	if j-i > 1 || a.size != b.size || a.groups != b.groups || a.kind != b.kind || a.veto != b.veto || s.p.Lines[i].Part != s.p.Lines[j].Part {
		return false
	}
	return (a.lone && b.lone && i != j || i == j && s.p.Span(a.end, b.start).Words == 0) && s.p.sum(a) != s.p.sum(b)
}
