// Package otp finds the one-time code in a mail, and the links that verify or
// sign in. It reads the words beside a number, not the number alone, and
// prefers no code to a wrong one. It does no I/O, opens no link, knows no
// mailbox, and its work grows linearly with the size of the mail.
package otp

// Mail is what the extractor reads: everything in UTF-8, the HTML as the
// sender wrote it, not sanitized.
type Mail struct{ From, Subject, Text, HTML string }

// Kind says what a code is made of.
type Kind string

// The kinds of code (docs/spec/messages.md#codes).
const (
	Numeric      Kind = "numeric"      // digits alone
	Alphanumeric Kind = "alphanumeric" // letters, or letters and digits
	Phrase       Kind = "phrase"       // words, joined by hyphens or spaces
)

// Result is what Extract found in a mail.
type Result struct {
	// Code is ready to paste: ASCII digits without separators, or, if letters
	// are in it, case and hyphens as written; a phrase is as the mail shows it. Empty
	// when there is no code.
	Code string
	// Display is the code as the mail shows it.
	Display string
	// Kind is empty when there is no code.
	Kind Kind
	// Confidence is between 0 and 1; 0 when there is no code.
	Confidence float64
	// Links are those that verify or sign in, best first, at most five; they
	// are given also when there is no code.
	Links []string
}

// Candidate is a number or word that was looked at, with the reasons for which
// it won or lost.
type Candidate struct {
	Value, Display string
	Where          string // subject, preheader, text or html
	Score          float64
	Reasons        []string
	Chosen         bool
}

// Explanation is a Result with the candidates it was chosen from, in the order
// of the mail.
type Explanation struct {
	Result     Result
	Candidates []Candidate
}

// Extract finds the code of a mail and its links.
func Extract(m Mail) Result {
	r, _ := judge(m, false)
	return r
}

// Explain is Extract with the candidates and their reasons.
func Explain(m Mail) Explanation {
	r, cs := judge(m, true)
	return Explanation{Result: r, Candidates: cs}
}
