package otp

import "fmt"

// mood is what the mail as a whole is about.
type mood struct {
	auth, guard, void, not int
	label                  int // of those for signing in, how many are part of a code's name
	once, where, brief     int
	never                  bool
	code                   bool // a word for a code is somewhere
	subjectAuth            bool
	subjectOnly            bool // the subject is a word for a code and nothing else
	subjectVoid            bool
	subjectGuard           bool    // the subject warns: the mail talks about codes
	subjectTrade           bool    // the subject names what is bought, paid or sent, and neither a code nor signing in
	figures                int     // numbers that belong to something else
	price                  bool    // something costs money
	amount                 bool    // a figure has two decimals, as money has, or ends a card's number
	done                   bool    // the mail reports what has happened
	subjectOld             bool    // the subject says that a code is used, wrong or expired
	subjectCode            float64 // what the subject's name of a code is worth
}

// silent says whether nothing in a mail speaks of signing in.
func (m mood) silent() bool {
	return m.auth-m.label+m.guard+m.once+m.where == 0 && m.subjectCode < 3.4
}

// total is what the mood gives to a candidate. Letters are sooner a booking
// than a code.
func (m mood) total(c *candidate) float64 {
	n, k := 0.0, c.kind
	if m.auth > 0 {
		n += 0.8
	}
	if m.subjectAuth {
		n += 0.7
	}
	if m.guard > 0 {
		n += 1
	}
	if m.guard == 0 && m.brief+m.once > 0 {
		n += 0.5
	}
	against := m.crowd(k) + m.others()
	if c.firm && m.void < 2 {
		against *= 0.3 // what it is called says more than what else the mail is about
	}
	if k == Alphanumeric && m.void > 0 {
		against--
	}
	if m.void > 0 && !c.firm && m.auth-m.label+m.guard+m.once == 0 {
		against -= 3 // nothing speaks of signing in
		if k == Alphanumeric {
			against -= 2
		}
	}
	if m.never {
		against -= 7
	}
	if m.subjectOld {
		against -= 3
	}
	if m.done && !c.told && c.gain < 2 {
		against -= 3 // nothing names the number
	}
	if m.receipt() && !c.firm && !c.lone && !c.told && !c.priced {
		against -= 1.5
		if m.figures > 1 {
			against -= 1.5
		}
		if m.done {
			against -= 1.5
		}
	}
	if m.trade() && !c.told {
		against -= 2.5
	}
	if m.settledTrade() && !c.told {
		against -= 4
	}
	return n + against
}

// settled says whether a mail tells of a payment, and nothing is left to do.
func (m mood) settled() bool {
	return (m.price || m.amount) && m.guard+m.once+m.where+m.brief == 0
}

// receipt says whether a mail names a price and says little of signing in.
func (m mood) receipt() bool {
	return (m.price && m.auth < 2 || m.done && (m.price || m.amount)) && m.guard+m.once+m.where+m.brief == 0
}

// trade says whether a mail lists what was bought, paid or booked, and has no
// word of signing in.
func (m mood) trade() bool {
	return m.subjectTrade && m.not+m.void >= 4 && m.figures >= 3 && m.guard+m.once+m.where+m.auth == 0
}

// settledTrade says whether a mail is about what was ordered or booked, as its
// subject says, reports that this is done, and has no word of a code to be typed.
func (m mood) settledTrade() bool {
	return m.subjectTrade && m.done && m.guard+m.once+m.where+m.brief == 0
}

// crowd is what many numbers of other kinds take from a code in a mail that
// does not speak of signing in.
func (m mood) crowd(k Kind) float64 {
	if m.auth+m.guard > 0 || m.not < 4 {
		return 0
	}
	n := -0.6
	if m.not >= 6 {
		n -= 0.9
	}
	if k == Alphanumeric {
		n -= 0.6
	}
	return n
}

// others is what codes of other kinds take: promotions, invitations, doors.
func (m mood) others() float64 {
	known := m.auth - m.label + m.guard
	switch {
	case m.never:
		return 0
	case m.void > 1 && known == 0:
		return -4
	case m.void > 2 && (m.subjectVoid || m.auth+m.guard == 0):
		return -4.5
	case m.subjectVoid:
		return -3
	case m.void > 1:
		return -2.5
	case m.void > 0 && known == 0:
		return -2.5
	case m.void > 0:
		return -1.5
	}
	return 0
}

// partOfName says whether a word for a code stands right beside a word for
// signing in, with which it makes one name: "access code", "codice d'accesso".
func (p *page) partOfName(i int) bool {
	k := &p.marks[i]
	if i > 0 {
		if o := &p.marks[i-1]; o.class&named != 0 && p.near(o.end, k.start) {
			return true
		}
	}
	if i+1 < len(p.marks) {
		if o := &p.marks[i+1]; o.class&named != 0 && p.near(k.end, o.start) {
			return true
		}
	}
	return false
}

// near says whether little and no break is between two places.
func (p *page) near(from, to int) bool {
	if to-from > 6 {
		return false
	}
	for _, r := range p.low[from:to] {
		if r == softBreak || r == hardBreak || r == cellBreak || r == '.' {
			return false
		}
	}
	return true
}

// feel counts the phrases of the page by class.
func (p *page) feel() mood {
	const settled = classDone | classNot
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
		m.subjectOld = m.subjectOld || l.part == inSubject && k.class&classOld != 0
		m.code = m.code || k.class&(classCode|classWord) != 0
		m.never = m.never || k.class&classNever != 0
		switch {
		case k.class&classVoid != 0:
			voids[l.part]++
			m.void = voids[inSubject] + max(voids[inText], voids[inHTML], voids[inPreheader])
			m.subjectVoid = m.subjectVoid || l.part == inSubject
		case k.class&settled == settled && !l.foot: // "your booking is confirmed", which is no signing in
			m.done = true
			m.subjectTrade = m.subjectTrade || l.part == inSubject
		case k.class&classAuth != 0 && k.class&(classCode|classWord) == 0:
			m.auth++
			if p.partOfName(i) {
				m.label++
			}
			m.subjectAuth = m.subjectAuth || l.part == inSubject
		case k.class&classGuard != 0:
			m.guard++
			m.subjectGuard = m.subjectGuard || l.part == inSubject
		case k.class&classDone != 0:
			m.done = true
		case k.class&classOnce != 0:
			m.once++
		case k.class&classWhere != 0:
			m.where++
		case k.class&classBrief != 0:
			m.brief++
		case k.class&classNot != 0 && !l.foot:
			m.subjectTrade = m.subjectTrade || l.part == inSubject
			nots[l.part]++
			m.not = max(m.not, nots[l.part])
		}
	}
	share, price := p.offers()
	m.price = price
	if share && !m.subjectAuth { // an offer, unless the mail is about signing in
		m.void++
	}
	m.conclude()
	return m
}

// conclude draws from the counts what the subject makes of the mail.
func (m *mood) conclude() {
	m.subjectTrade = (m.subjectTrade || m.subjectVoid) && !m.subjectAuth && m.subjectCode == 0
	if m.subjectOld || m.subjectGuard && m.subjectCode > 0 {
		m.subjectCode, m.guard = 0, 0
		m.void = max(m.void, 1)
	}
}

func (m mood) String() string {
	return fmt.Sprintf("the mail as a whole: sign-in %d, warnings %d, other codes %d, other numbers %d", m.auth, m.guard, m.void, m.not)
}
