package score

// The vetoes: what makes a number or word no code, whatever else is said of it. They
// are read with the candidate (number.go, group.go, word.go, postal.go), and none is
// weighed further.
const (
	aFigure         = "part of a figure, date or time"      // 10:12, 48.20, 1.0.2
	aDate           = "a date"                              // 2026-05-31
	aCard           = "the end of a card or account number" // **** 4471
	aPiece          = "one group of a longer number"        // 5582 013 7
	aPhone          = "a phone number"                      // +44 20 7946 0018
	aPhoneOrAccount = "a phone or account number"           // 482-9137 without a word for a code
	anAccount       = "an account number"                   // DE44 5001 0517 5407
	tooLong         = "more than ten digits"
	anAmount        = "an amount of money"                // €4829
	aMeasure        = "a measure"                         // 4829 %
	ofName          = "part of a name or address"         // host.4829, file_4829
	ofAddress       = "part of an address"                // 4829@fernhill.example
	ofNumber        = "part of a longer number"           // 4829-AB
	dialledNumber   = "to be dialled"                     // 4829#
	aScale          = "the scale of a survey"             // 1 2 3 4 5
	aGrid           = "a grid of figures"                 // several rows of several cells
	ofPerson        = "the number of whom the mail is to" // Dear Customer 20775318,
	aPlaceholder    = "a field that nothing was put into" // XXXXXX, NULL, {{code}}
	anIssue         = "the key of an issue"               // - OPS-1183 Sign-in code is not sent
	aPostalCode     = "the postal code of an address"     // 12 Harbour Street, 90210 Springfield
)
