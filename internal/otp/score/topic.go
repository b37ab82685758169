package score

import (
	"fmt"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
)

// topic is what the mail as a whole is about.
type topic struct {
	auth, guard, void, not int
	label                  int // of those for signing in, how many are part of a code's name
	once, where, brief     int
	never                  bool
	initial                bool // something is to be changed at the first sign-in
	code                   bool // a word for a code is somewhere
	subjectNoun            bool // the subject names what has a number of its own
	textNouns              bool // the text names what has a number of its own
	use                    bool // an order to enter something is in the text
	subjectAuth            bool
	subjectOnly            bool // the subject is a word for a code and nothing else
	subjectVoid            bool
	subjectGuard           bool    // the subject warns: the mail talks about codes
	subjectTrade           bool    // the subject names what is bought, paid or sent, and neither a code nor signing in
	figures                int     // numbers that belong to something else
	price                  bool    // something costs money
	amount                 bool    // a figure has two decimals, as money has, or ends a card's number
	done                   bool    // the mail reports what has happened
	reply                  bool    // the mail answers another
	subjectDone            bool    // the subject reports what has happened, perhaps a sign-in that waits for its code
	subjectOutcome         bool    // the subject reports what has come to its end
	subjectOld             bool    // the subject says that a code is used, wrong or expired
	subjectCode            float64 // what the subject's name of a code is worth
}

// silent says whether nothing in a mail speaks of signing in.
func (m topic) silent() bool {
	return m.auth-m.label+m.guard+m.once+m.where == 0 && m.subjectCode < subjectName.weight
}

// total is what the topic gives to a candidate. Letters are sooner a booking
// than a code.
func (m topic) total(c *candidate) float64 {
	n, k := float64(0), c.kind
	if m.auth > 0 {
		n += aboutSigningIn.weight
	}
	if m.subjectAuth {
		n += subjectSigningIn.weight
	}
	if m.guard > 0 {
		n += warning.weight
	}
	if m.guard == 0 && m.brief+m.once > 0 {
		n += briefOrOnce.weight
	}
	against := m.others()
	switch {
	case c.firm && m.void < 2:
		against *= firmShare.weight // what it is called says more than what else the mail is about
	case c.firm && !(m.subjectVoid && m.silent()): // what is fetched is opened by a code, however it is called
		against *= firmVoidShare.weight
	case c.instructed && c.field && m.auth > 0 && m.void < 3: // what is typed into the page is its code, whatever else there is
		against *= firmVoidShare.weight
	}
	if k == Alphanumeric && m.void > 0 {
		against += voidLetters.weight
	}
	if m.void > 0 && !c.firm && m.auth-m.label+m.guard+m.once == 0 {
		against += voidSilent.weight // nothing speaks of signing in
	}
	if m.never {
		against += neverCode.weight
	}
	if m.subjectOld {
		against += subjectExpired.weight
	}
	if m.reply && !c.firm && !c.tie && !c.lone && !c.instructed {
		against += answer.weight
	}
	if m.done && !c.instructed && c.gain < 2 {
		against += doneUnnamed.weight // nothing names the number
	}
	if m.subjectNoun && m.auth < 2 && c.gain < 2 && !c.instructed && m.guard+m.once+m.where+m.brief == 0 {
		against += nounUnnamed.weight
	}
	if m.initial && !c.firm && m.once == 0 {
		against += initialPassword.weight
	}
	if !c.instructed {
		against += m.traded(c)
	}
	return n + against
}

// traded returns what a number loses if the mail is about something paid, bought
// or booked and does not ask to enter the number.
func (m topic) traded(c *candidate) (loss float64) {
	if m.receipt() && !c.firm && !c.lone && !c.priced {
		loss += receipt.weight
		if m.figures > 1 {
			loss += receipt.weight
		}
		if m.done {
			loss += receipt.weight
		}
	}
	if m.trade() && !(c.firm && m.use) {
		loss += trade.weight
	}
	if m.settledTrade() || m.booked() {
		loss += settledTrade.weight
	}
	return loss
}

// settled says whether a name is that of the number of a payment or booking, in
// a mail that tells of one and leaves nothing to do.
func (m topic) settled(name lexicon.Class) bool {
	if m.guard+m.once+m.where+m.brief > 0 || m.use {
		return false
	}
	return name&lexicon.Approval != 0 && (m.price || m.amount) && (m.auth < 4 || m.done) ||
		name&lexicon.Confirmation != 0 && (m.subjectNoun && m.auth-m.label < 2 || m.done && !m.subjectNoun)
}

// receipt says whether a mail names a price and says little of signing in.
func (m topic) receipt() bool {
	return (m.price && m.auth < 2 || m.done && (m.price || m.amount)) && m.guard+m.once+m.where+m.brief == 0
}

// trade says whether a mail lists what was bought, paid or booked, and has no
// word of signing in.
func (m topic) trade() bool {
	return m.subjectTrade && m.not+m.void >= 3 && m.figures >= 3 && m.guard+m.once+m.where+m.auth == 0
}

// settledTrade says whether a mail is about what was ordered or booked, as its
// subject says, reports that this is done, and has no word of a code to be typed.
func (m topic) settledTrade() bool {
	return m.subjectTrade && m.done && m.guard+m.once+m.where+m.brief == 0
}

// booked says whether a mail reports that what its subject names is done, gives
// its particulars and asks for nothing, though the subject may say "confirmed".
func (m topic) booked() bool {
	return m.subjectNoun && m.done && m.figures > 0 && m.subjectCode == 0 && m.guard+m.once+m.where+m.brief == 0 && !m.use
}

// others is what codes of other kinds take: promotions, invitations, doors.
func (m topic) others() float64 {
	known := m.auth - m.label + m.guard
	switch {
	case m.never:
		return 0
	case m.void > 1 && known == 0, m.void > 2 && (m.subjectVoid || m.auth+m.guard == 0):
		return voidsOnly.weight
	case m.subjectVoid, m.void > 1:
		return voidSubject.weight
	case m.void > 0 && known == 0:
		return voidOnly.weight
	case m.void > 0:
		return voidOne.weight
	}
	return 0
}

func (m topic) String() string {
	return fmt.Sprintf("the mail as a whole: sign-in %d, warnings %d, other codes %d, other numbers %d", m.auth, m.guard, m.void, m.not)
}
