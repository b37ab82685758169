package otp

import "fmt"

// judge reads a mail, scores its candidates and picks the best.
func judge(m Mail, explain bool) (Result, []Candidate) {
	p := read(m)
	defer p.discard()
	p.findCandidates()
	s := scoring{p: p, cs: p.found, explain: explain}
	s.run()
	r := Result{Links: p.bestLinks()}
	win := s.winner()
	if win < 0 {
		win = s.phrase()
	}
	if win >= 0 {
		c := &s.cs[win]
		r.Code, r.Display = p.value(c), p.text(c.start, c.end)
		r.Kind, r.Confidence = c.kind, confidence(c.score)
	}
	if !explain {
		return r, nil
	}
	return r, s.candidates(win)
}

// maxBytes bounds what is looked at of each part, markup included.
const maxBytes = 1 << 20

// read makes a page of a mail.
func read(m Mail) *page {
	p := lexicons().blank()
	p.room(min(len(m.Subject), maxRunes) + min(len(m.Text), maxRunes) + min(len(m.HTML)/4, maxRunes))
	p.open(inSubject)
	for _, r := range cut(m.Subject, maxBytes) {
		if p.full() {
			break
		}
		p.write(r)
	}
	p.open(inText)
	p.readText(cut(m.Text, maxBytes))
	p.open(inHTML)
	p.readHTML(cut(m.HTML, maxBytes))
	p.prepare()
	p.findMarks()
	p.cutQuotes()
	return p
}

// winner is the candidate with the best score, if that is enough.
func (s *scoring) winner() int {
	best := -1
	for k := range s.cs {
		if s.cs[k].score >= threshold && (best < 0 || s.cs[k].score > s.cs[best].score) {
			best = k
		}
	}
	return best
}

// candidates lists what was looked at.
func (s *scoring) candidates(win int) []Candidate {
	out := make([]Candidate, len(s.cs))
	for k := range s.cs {
		c := &s.cs[k]
		out[k] = Candidate{
			Value: s.p.value(c), Display: s.p.text(c.start, c.end), Where: s.p.lines[c.line].part.String(),
			Score: c.score, Reasons: c.reasons, Chosen: k == win,
		}
	}
	return out
}

func reason(n float64, why string) string { return fmt.Sprintf("%+.1f %s", n, why) }
