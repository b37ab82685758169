package otp

import "math"

// The score of a candidate is a sum of what speaks for it and against it, in
// the manner of log-odds; at the threshold it is as likely the code as not
// worth the risk.
const threshold = 5.0

// scoring weighs the candidates of one page.
type scoring struct {
	p       *page
	cs      []candidate
	explain bool
	mood    mood
}

func (s *scoring) add(c *candidate, n float64, why string) {
	c.score += n
	if s.explain && n != 0 {
		c.reasons = append(c.reasons, reason(n, why))
	}
}

// because names the phrase that is the reason.
func (s *scoring) because(c *candidate, n float64, why string, m mark) {
	if s.explain {
		why += " “" + s.p.text(m.start, m.end) + "”"
	}
	s.add(c, n, why)
}

// run scores every candidate.
func (s *scoring) run() {
	for k := range s.cs {
		s.oppose(k)
	}
	for k := range s.cs {
		c := &s.cs[k]
		if c.veto != "" {
			s.add(c, -20, c.veto)
			continue
		}
		s.add(c, c.shape, "shape")
		s.bind(k)
		s.look(c)
		s.add(c, c.against, "so it is no code")
		s.add(c, s.mood.total(c.gain), "the mail as a whole")
	}
	s.share()
	s.agree()
}

// look weighs how the candidate is set.
func (s *scoring) look(c *candidate) {
	l := &s.p.lines[s.p.lineAt(c.start)]
	if c.lone && l.part != inSubject {
		s.add(c, 1, "alone on its line")
	}
	if l.large && c.lone {
		s.add(c, 1.5, "set large")
	}
	if l.foot {
		s.add(c, -1.5, "in the footer")
	}
	if l.quoted {
		s.add(c, -20, "in a quoted or forwarded mail")
	}
	if l.part == inPreheader {
		s.add(c, -0.7, "in the hidden preheader")
	}
	if l.link {
		s.add(c, -2, "the text of a link")
	}
}

// share lets each word belong to one number: the best, or the first.
func (s *scoring) share() {
	best := make(map[int]int, 8)
	for k := range s.cs {
		c := &s.cs[k]
		if c.anchor < 0 || c.veto != "" {
			continue
		}
		if b, ok := best[c.anchor]; !ok || c.score > s.cs[b].score+0.01 {
			best[c.anchor] = k
		}
	}
	for k := range s.cs {
		c := &s.cs[k]
		if c.anchor >= 0 && c.veto == "" && best[c.anchor] != k {
			s.add(c, -c.gain*0.7, "the word belongs to another number")
		}
	}
}

// agree strengthens a code that several parts of the mail give, and weakens
// one that is elsewhere an order or a phone number.
func (s *scoring) agree() {
	if len(s.cs) < 2 {
		return
	}
	type seen struct {
		parts  uint8
		worst  float64
		number int
	}
	all := make(map[string]*seen, len(s.cs))
	values := make([]string, len(s.cs))
	for k := range s.cs {
		c := &s.cs[k]
		v := s.p.value(c)
		values[k] = v
		e := all[v]
		if e == nil {
			e = new(seen)
			all[v] = e
		}
		e.parts |= 1 << s.p.partOf(c.start)
		e.worst = min(e.worst, c.against)
	}
	for k := range s.cs {
		c := &s.cs[k]
		if c.veto != "" {
			continue
		}
		e := all[values[k]]
		if e.parts&(e.parts-1) != 0 {
			s.add(c, 0.7, "given in several parts of the mail")
		}
		if e.worst < c.against {
			s.add(c, (e.worst-c.against)/2, "something else elsewhere in the mail")
		}
	}
}

// confidence maps a score to (0, 1).
func confidence(score float64) float64 {
	return math.Round(1000/(1+math.Exp(-(score-threshold+1)))) / 1000
}
