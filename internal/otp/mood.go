package otp

import "fmt"

// mood is what the mail as a whole is about.
type mood struct {
	auth, guard, void, not int
	never                  bool
	code                   bool // a word for a code is somewhere
	subjectAuth            bool
	subjectOnly            bool // the subject is a word for a code and nothing else
	subjectVoid            bool
	subjectCode            float64 // what the subject's name of a code is worth
}

// total is what the mood gives to a candidate. Letters are sooner a booking
// than a code.
func (m mood) total(k Kind) float64 {
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
	if m.auth == 0 && m.guard == 0 && m.not >= 3 {
		n -= 0.6
		if m.not >= 4 {
			n -= 0.9
		}
		if k == Alphanumeric {
			n -= 0.6
		}
	}
	if k == Alphanumeric && m.void > 0 {
		n -= 1
	}
	switch {
	case m.never:
		n -= 7
	case m.void > 2 && (m.subjectVoid || m.auth+m.guard == 0):
		n -= 4.5
	case m.subjectVoid:
		n -= 3
	case m.void > 1:
		n -= 2.5
	case m.void > 0 && m.auth+m.guard == 0:
		n -= 2.5
	case m.void > 0:
		n -= 1.5
	}
	return n
}

// feel counts the phrases of the page by class.
func (p *page) feel() mood {
	var m mood
	var nots, voids [4]int // by part, since parts repeat each other
	line := 0
	for i := range p.marks {
		k := &p.marks[i]
		for p.lines[line].end <= k.start {
			line++
		}
		l := &p.lines[line]
		if l.quoted {
			continue
		}
		if l.part == inSubject && k.class&(classCode|classWord) != 0 && k.class&classDigits == 0 {
			m.subjectCode = max(m.subjectCode, 3)
			m.subjectOnly = m.subjectOnly || k.start <= l.start && k.end >= l.end
			if k.class&classCode != 0 {
				m.subjectCode = 3.4
			}
		}
		m.code = m.code || k.class&(classCode|classWord) != 0
		m.never = m.never || k.class&classNever != 0
		switch {
		case k.class&classVoid != 0:
			voids[l.part]++
			m.void = max(m.void, voids[l.part])
			m.subjectVoid = m.subjectVoid || l.part == inSubject
		case k.class&classAuth != 0:
			m.auth++
			m.subjectAuth = m.subjectAuth || l.part == inSubject
		case k.class&classGuard != 0:
			m.guard++
		case k.class&classNot != 0 && !l.foot:
			nots[l.part]++
			m.not = max(m.not, nots[l.part])
		}
	}
	return m
}

func (m mood) String() string {
	return fmt.Sprintf("the mail as a whole: sign-in %d, warnings %d, other codes %d, other numbers %d", m.auth, m.guard, m.void, m.not)
}
