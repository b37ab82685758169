// Package otp finds the one-time code in a mail, and the links that verify or
// sign in. It reads the words beside a number, not the number alone, and
// prefers no code to a wrong one. It does no I/O, opens no link, knows no
// mailbox, and its work grows linearly with the size of the mail.
package otp

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/score"
)

// Mail is what the extractor reads: everything in UTF-8, the HTML as the
// sender wrote it, not sanitized.
type Mail struct{ From, Subject, Text, HTML string }

// Kind says what a code is made of.
type Kind = score.Kind

// The kinds of code (docs/spec/messages.md#codes).
const (
	Numeric      = score.Numeric      // digits alone
	Alphanumeric = score.Alphanumeric // letters, or letters and digits
	Phrase       = score.Phrase       // words, joined by hyphens or spaces
)

// Candidate is a number or word that was looked at, with the reasons for which
// it won or lost.
type Candidate = score.Candidate

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
	// Action is the link that the mail asks its reader to open, the first of Links; nil if
	// that is in doubt.
	Action *Action
	// Refused are links that cancel or report, at most sixteen.
	Refused []string
}

// Explanation is a Result with the candidates it was chosen from, in the order
// of the mail.
type Explanation struct {
	Result     Result
	Candidates []Candidate
	Links      []LinkCandidate // every link, in the order of the mail
}

// Extract finds the code of a mail and its links.
func Extract(m Mail) Result { return extract(m, false).Result }

// Explain is Extract with the candidates and their reasons.
func Explain(m Mail) Explanation { return extract(m, true) }

// Warm builds the lexicon that Extract and Explain need, unless that is done
// already. It takes 30 to 90 ms, which the first mail would wait for otherwise.
// Its error names the phrases that cannot be read, which Extract does without.
// It is safe for concurrent use, with Extract too, which waits for it.
func Warm() error { return lexicon.Warm() }

func extract(m Mail, explain bool) Explanation {
	p := score.Read(m.Subject, m.Text, m.HTML)
	defer p.Discard()
	v, all := p.Judge(explain)
	r := Result{Code: v.Code, Display: v.Display, Kind: v.Kind, Confidence: v.Confidence}
	e := Explanation{Candidates: all}
	e.Links = bestLinks(&p.Text, m.From, explain, &r)
	e.Result = r
	return e
}
