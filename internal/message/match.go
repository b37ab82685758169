package message

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// Match restricts a list to the messages that have all of the given properties (docs/spec/messages.md#filtering-a-list).
// The zero Match restricts nothing.
type Match struct {
	From       string // a part of the sender's address or name, in any case; "": every sender
	Subject    string // a part of the subject, in any case; "": every subject
	To         string // a part of a recipient, in any case: of the envelope's for the mailbox, or of an address or name in To or Cc; "": every one
	Code       bool   // only with a code
	Link       bool   // only with a web address
	BestLink   bool   // only with a web address to follow
	Action     bool   // only with an action
	Attachment bool   // only with an attachment
	Unseen     bool   // only those that were not read yet
}

// matcher is a Match with its texts folded once for many messages.
type matcher struct {
	Match
	from, subject, to string // folded
}

func (m Match) compile() matcher {
	return matcher{Match: m, from: fold(m.From), subject: fold(m.Subject), to: fold(m.To)}
}

// accepts reports whether a message matches.
func (m *matcher) accepts(s *storedSummary) bool { return m.lack(s) == "" }

// Lack is a condition of a Match that a message does not meet, by the name of the query parameter, and of its value for
// the parameter has.
type Lack string

// The conditions of a Match.
const (
	LackTo         Lack = "to"
	LackFrom       Lack = "from"
	LackSubject    Lack = "subject"
	LackAttachment Lack = "attachment"
	LackUnseen     Lack = "unseen"
	LackAction     Lack = "action"
	LackBestLink   Lack = "bestLink"
	LackLink       Lack = "link"
	LackCode       Lack = "code"
)

// lack returns the first condition that a message does not meet, "" if it meets all of them. Those that tell which message
// is meant come before those that tell what is looked for in it.
func (m *matcher) lack(s *storedSummary) Lack {
	switch {
	case m.to != "" && !m.receivedBy(s):
		return LackTo
	case m.from != "" && !named(s.From, m.from):
		return LackFrom
	case m.subject != "" && !strings.Contains(fold(s.Subject), m.subject):
		return LackSubject
	case m.Attachment && !s.HasAttachments:
		return LackAttachment
	case m.Unseen && s.Seen:
		return LackUnseen
	case m.Action && !s.encoded.hasAction():
		return LackAction
	case m.BestLink && !s.HasBest:
		return LackBestLink
	case m.Link && !s.HasLinks:
		return LackLink
	case m.Code && s.encoded.code() == "":
		return LackCode
	}
	return ""
}

// receivedBy reports whether a recipient of the message has the text that is looked for.
func (m *matcher) receivedBy(s *storedSummary) bool {
	isNamed := func(a Address) bool { return named(a, m.to) }
	return slices.ContainsFunc(s.EnvelopeTo, func(path string) bool { return strings.Contains(fold(path), m.to) }) ||
		slices.ContainsFunc(s.To, isNamed) || slices.ContainsFunc(s.CC, isNamed)
}

// named reports whether an address, or the name beside it, contains a folded text.
func named(a Address, folded string) bool {
	return strings.Contains(fold(a.Address), folded) || strings.Contains(fold(a.Name), folded)
}

// fold returns s with the differences of case removed, as Unicode defines it (full case folding, so that "STRASSE" finds
// "Straße"). SQLite knows the case of ASCII alone and PostgreSQL that of its locale, so it is not left to them.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Fold().String(s)
		}
	}
	return strings.ToLower(s)
}
