package otp

// mood is what the mail as a whole is about.
type mood struct {
	auth, guard, void, not int
	subjectAuth            bool
	subjectVoid            bool
}

// total is what the mood gives to a candidate that is bound to a word worth
// gain; a number without a word needs it most.
func (m mood) total(gain float64) float64 {
	n := 0.0
	if m.auth > 0 {
		n += 0.8
	}
	if m.subjectAuth {
		n += 0.7
	}
	if m.guard > 0 {
		n += 1
	}
	switch {
	case m.subjectVoid:
		n -= 3
	case m.void > 1:
		n -= 2.5
	case m.void > 0:
		n -= 1.5
	}
	return n
}

// feel counts the phrases of the page by class.
func (p *page) feel() mood {
	var m mood
	for i := range p.marks {
		k := p.marks[i]
		l := &p.lines[p.lineAt(k.start)]
		if l.quoted {
			continue
		}
		switch {
		case k.class&classVoid != 0:
			m.void++
			m.subjectVoid = m.subjectVoid || l.part == inSubject
		case k.class&classAuth != 0:
			m.auth++
			m.subjectAuth = m.subjectAuth || l.part == inSubject
		case k.class&classGuard != 0:
			m.guard++
		case k.class&classNot != 0:
			m.not++
		}
	}
	return m
}
