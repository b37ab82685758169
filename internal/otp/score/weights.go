package score

// A feature is one observation that speaks for a candidate or against it.
// The comment beside its row in the table says what it observes. A weight is written as a
// guess, and as what make otp-fit adds to it: 1.2 + 0.31. That is left out where the mails
// give no reason to leave the guess.
type feature struct {
	weight float64 // in log-odds, a cost in the same unit, or a share
	text   string  // the name that an explanation prints; it has words of its own for what has none
}

// A fixed feature is one that make otp-fit leaves as it is: a share, a bound of a loss, or the
// weight of a form.
type fixed = feature

// threshold is the score at which a candidate may be the code: the sum of its features
// is then as likely to be right as is worth the risk.
const threshold = 5.0

// Shares of weights and of the closeness of names, and how much two scores may differ by rounding.
const (
	halfOf     = 0.5   // of what an owner takes, from the third word on
	quarterOf  = 0.25  // and from the fifth
	thousandth = 0.001 // of a closeness

	clearly = 0.01 // a score is ahead of another by more than rounding
)

// subjectGives is what an explanation prints for the name that a number inherits from the subject.
const subjectGives = "the subject names a code"

// The word that names a number.
var (
	closenessOfName = &fixed{1, ""}                                      // each thousand of the closeness of a name (closeness.go)
	wordTaken       = &fixed{-0.7, "the word belongs to another number"} // the share of what a word gave that is taken back where another number is bound to it
)

// What a word right at a number says.
var (
	domainBound = &fixed{8, "bound to a domain"}                  // the last line of a domain-bound code: “@fernhill.example #482913”
	testDigits  = &feature{2, "test digits that are named"}       // 123456 or 0000, where something names it
	yearOfDate  = &feature{-4, "the year of a date"}              // four digits behind a day and the name of a month
	noYear      = &feature{1.2, "so it is no year"}               // 2024 with a word for a code right before it
	noYearAsked = &feature{1.2, "nor is one asked for"}           // 2024 alone on its line, below a subject with a name of a code
	bareLetters = &feature{-4, "letters without strong evidence"} // letters that no word for a code is close enough to
)

// What owns a number: the worst of these counts, and none where a word for a code is close.
var (
	lossNot    = &fixed{-6, ""}     // a noun, a half of it from the third word on and a quarter from the fifth: “order 482913”, a ticket
	lossVoid   = &fixed{-7, ""}     // the name of another code, likewise: “promo code 482913”
	ownerHeld  = &fixed{0.9, ""}    // the share that is given back where a name of a code is tied to the number, or follows it
	nounAfter  = &feature{-3.5, ""} // a noun right behind: “482913 orders”
	unitAfter  = &feature{-7, ""}   // a unit right behind: “4829 points”
	oldWord    = &feature{-5, ""}   // a word before it, or further on in the sentence, that says it is no longer good or was used: “482913 has expired”
	numberSign = &feature{-1.5, ""} // a number sign right before it: “#482913”
)

// An order to enter it.
var (
	toldAbove   = &feature{1.2, "told to in the line above"} // a number alone on its line, below an order
	toldBelow   = &feature{1.6, "told to in the line below"} // the same above an order: “Type this on the television”
	toldNumber  = &feature{3.3, ""}                          // an order beside a number, or letters and digits that change places: “enter 482913”
	toldSeven   = &feature{2.8, ""}                          // an order beside seven digits
	toldWord    = &feature{1.2, ""}                          // an order beside a word, or with a weak word in between: “enter the code 482913”
	toldUnknown = &feature{-1.5, "but an unknown noun is"}   // an unknown noun between the order and the number, in a mail silent about signing in
	purpose     = &feature{0.7, "in order to sign in"}       // an aim beside the order: “enter 482913 to sign in”, “to sign in, enter 482913”
)

// Where it stands, and what its sentence says.
var (
	struck         = &feature{-6, "crossed out"}                             // <s>482913</s>
	setApart       = &feature{0.5, "set apart"}                              // strong or in a box, but not large
	toldToPerson   = &feature{-3, "to be told to a person"}                  // “show 4829 to the driver”, in a mail silent about signing in
	ofPayment      = &feature{-7, "of a payment or booking that was made"}   // “Authorisation code 482913” beside a price
	ofReport       = &feature{-4.5, "the mail reports what has happened"}    // “New sign-in from Leeds. Support code 482913”
	ofOutcome      = &feature{-7, "the subject reports an outcome"}          // “Number verified”, and below it “Code 482913 matched”
	secretOfNumber = &feature{-5, "the secret of the long number before it"} // “Meeting 771 2209 4410, passcode 482913”
	secretOfNoun   = &feature{-2, "the secret of what is named before it"}   // “account 40028817 PIN 4829”
	secretTyped    = &feature{-4, "and to be typed"}                         // such a secret in an order: it goes into the program, not the page
	inQuotation    = &feature{-8, "in a sentence that is quoted"}            // “they write “your code is 482913””
	besideField    = &feature{1, "beside the field it goes into"}            // “482913 in the app”
)

// How it is set.
var (
	aloneOnLine  = &feature{1, "alone on its line"}                    // nothing else is on its line, in the text
	heading      = &feature{-6, "the heading of the mail"}             // letters that are the first line of the text
	setLarge     = &feature{2.2, "set large"}                          // alone on its line and large, or a heading
	inFooter     = &feature{-5.5, "a long number in the footer"}       // more than eight digits below “unsubscribe” or the like: the number of a company
	inQuote      = &fixed{-20, "in a quoted or forwarded mail"}        // “> Your code is 482913”
	linkText     = &feature{-2, "the text of a link"}                  // <a>482913</a>
	severalParts = &feature{0.7, "given in several parts of the mail"} // in the subject and in the text
	inRows       = &fixed{-8, "one of a list"}                         // one of three codes below each other: backup codes
)

// What its neighbourhood is about.
var (
	aboutSigningIn   = &feature{0.8, "words for signing in are near"}                                   // a word for signing in or verifying
	subjectSigningIn = &feature{0.7, "the subject is about signing in"}                                 // such a word in the subject
	warning          = &feature{1, "a warning is near"}                                                 // a warning: “do not share”, “expires in”
	briefOrOnce      = &feature{0.5, "a time in minutes or a word for one use is near"}                 // no warning, but a time in minutes or a word for one use
	firmShare        = &fixed{0.3, ""}                                                                  // the share of what speaks against codes of this mail that counts for a name of a code
	firmVoidShare    = &fixed{0.6, ""}                                                                  // the share where the mail has several names of other codes
	voidLetters      = &feature{-1, "letters in a mail that names another code"}                        // letters in a mail that names another code
	voidSilent       = &feature{-3, "another code is named, and nothing of signing in"}                 // a mail that names another code, and nothing of signing in
	neverCode        = &feature{-7, "the mail holds no code"}                                           // a mail that holds no code: “meeting ID”, “PUK”
	subjectExpired   = &feature{-3, "the subject says that a code is used or expired"}                  // the subject says that a code is used or expired
	answer           = &feature{-5, "an answer to a mail"}                                              // an answer to a mail: “Re:”
	doneUnnamed      = &feature{-3, "the mail reports what has happened, and nothing names the number"} // the mail reports what has happened, and nothing names the number
	nounUnnamed      = &feature{-2, "the subject names what has a number of its own"}                   // the subject names what has a number of its own, and nothing names this one
	initialPassword  = &feature{-4, "a password until the first sign-in"}                               // a password until the first sign-in
	receipt          = &feature{-1.5, "a receipt"}                                                      // a price and little of signing in, as often again as there are other numbers and it was paid
	trade            = &feature{-3.5, "a list of what was bought or booked"}                            // a list of what was bought or booked
	settledTrade     = &feature{-4, "an order or a booking that is confirmed"}                          // an order or a booking that is confirmed
	voidsOnly        = &feature{-4, "several other codes are named, and nothing of signing in"}         // two names of other codes and nothing of signing in, or three and one in the subject or no word for signing in
	voidSubject      = &feature{-3, "the subject or several names are those of other codes"}            // one in the subject, or two of them
	voidOnly         = &feature{-2.5, "another code is named, and nothing of signing in"}               // one, and nothing of signing in
	voidOne          = &feature{-1.5, "another code is named"}                                          // one
)

// The only number of its neighbourhood that can be the code.
var (
	inPlaceOf      = &feature{3.5, "in place of another"}                    // the other one is crossed out or expired
	onlyFree       = &feature{1, "the only number it can be"}                // something says that there is a code
	onlyAtAll      = &feature{0.5, "the only number at all"}                 // and there is no other number
	onlySmall      = &feature{2.5, "the only letters and digits, and named"} // small letters and digits in a mail that names nothing else: “Your code is k7m2pq”
	setAsCode      = &feature{1.6, "and set as codes are"}                   // large, or a digit to a cell
	begins         = &feature{2.5, "begins the subject or the text"}         // “482913 – sign in”
	wholeText      = &feature{2.5, "all the text there is"}                  // the text is the number
	signedInBy     = &feature{1.5, "signing in by it"}                       // “Approve it with 771044”
	onlyTold       = &feature{0.3, "and told to"}                            // there is an order to enter it
	announcedBelow = &feature{3.2, "the text says that it is a code"}        // the number in the subject, and a word for a code in the text
	ownSentence    = &feature{-2, "and that is all its sentence"}            // “Referencia 884213.”
	onlyInField    = &feature{0.8, "and nothing else goes there"}            // nothing names it, and a field is named
	afterColon     = &feature{2.2, "after a colon"}                          // a sentence and a colon lead to it
	unnamed        = &feature{1.5, "nothing names it"}                       // no noun stands before it, in a mail about signing in
	nothingElse    = &feature{1, "and nothing else is spoken of"}            // a word for a code, and no other topic
)

// Its form.
var (
	digits4       = &fixed{0.6, "four digits"}                          // 4 digits
	digits5       = &fixed{0.5, "five digits"}                          // 5 digits
	digits6       = &fixed{1, "six digits"}                             // 6 digits
	digits7       = &fixed{-0.2, "seven digits"}                        // 7 digits
	digits8       = &fixed{0.4, "eight digits"}                         // 8 digits
	digits10      = &fixed{-1, "nine or ten digits"}                    // 9 and 10 digits
	yearShape     = &fixed{-1.7, "it reads as a year"}                  // four digits that read as a year of our time: 2024
	testShape     = &fixed{-2, "the digits of an example"}              // the digits of an example: 123456, 0000, 1 2 3 4 5 6
	zerosShape    = &fixed{-1, "zeros at its end"}                      // three zeros at its end: 48000
	fours         = &fixed{0.6, "even groups"}                          // other even groups: 4829 1348, 48 29 13
	spelled       = &fixed{1.5, "digits one by one"}                    // digits one by one: 4 8 2 9 1 3
	boxedShape    = &fixed{2, "one to a cell"}                          // one digit, capital letter or mix of both to a cell
	threes        = &fixed{1.2, "two groups of three"}                  // two groups of three: 482 913
	oddGroups     = &fixed{-1, "odd groups"}                            // groups that are sooner something else: 482.913, 719-25, 21-11-26, ABC-DEF, more than eight digits
	threeFour     = &fixed{0.2, "groups of which one is short or long"} // groups with a short or long end: 482-9137, 482 913 48, 4829 13
	prefixedShape = &fixed{1, "capitals, a hyphen and digits"}          // capitals, a hyphen and digits: G-482913
	chosenShape   = &fixed{-3, "a word and a number"}                   // a password made of a word and a number: Winter4821
	promotion     = &fixed{-6, "it looks like a promotion"}             // a word and a discount: SPRING30
	capitals      = &fixed{-1.6, "letters alone"}                       // letters alone: KXPQ, aBcDeF
	mixedShape    = &fixed{0.1, "capitals and digits"}                  // five to eight capitals and digits: K7P2XD
	mixedOther    = &fixed{-0.3, "few or many capitals and digits"}     // more or fewer of them
	smallLetters  = &fixed{-2, "small letters and digits"}              // small letters and digits: k7p2xd
)
