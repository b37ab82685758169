package score

import "github.com/gonebox/gonebox/internal/otp/lexicon"

// Whether a mail is about something paid, bought or booked.

// isSettled reports whether a name is that of the number of a payment or booking, in
// a mail that confirms one and asks the reader to do nothing more.
func (a *surroundings) isSettled(name lexicon.Class) bool {
	if !a.hasNoUse() || a.use {
		return false
	}
	return name&lexicon.Approval != 0 && (a.price || a.amount) && (a.auth < 4 || a.done) ||
		name&lexicon.Confirmation != 0 && (a.subject.noun && a.auth-a.label < 2 || a.done && !a.subject.noun)
}

// isReceipt reports whether a mail names a price and says little of signing in.
func (a *surroundings) isReceipt() bool {
	return (a.price && a.auth < 2 || a.done && (a.price || a.amount)) && a.hasNoUse()
}

// isTrade reports whether a mail lists what was bought, paid or booked, and has no
// word of signing in.
func (a *surroundings) isTrade() bool {
	return a.subject.trade && a.not+a.void >= 3 && a.figures >= 3 && a.guard+a.once+a.where+a.auth == 0
}

// isSettledTrade reports whether a mail is about what was ordered or booked, as its
// subject says, reports that this is done, and has no word of a code to be typed.
func (a *surroundings) isSettledTrade() bool { return a.subject.trade && a.done && a.hasNoUse() }

// isBooking reports whether a mail reports that what its subject names is done, gives
// its particulars and asks for nothing, though the subject may say "confirmed".
func (a *surroundings) isBooking() bool {
	return a.subject.noun && a.done && a.figures > 0 && a.subject.name == nameless && a.hasNoUse() && !a.use
}
