package message

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// Match restricts a list to the messages that have all of the given properties (docs/spec/messages.md#filtering-a-list).
// The zero Match restricts nothing.
type Match struct {
	From       string // a part of the sender's address or name, in any case; "": every sender
	Subject    string // a part of the subject, in any case; "": every subject
	Code       bool   // only with a code
	Link       bool   // only with a web address
	Attachment bool   // only with an attachment
	Unseen     bool   // only those that were not read yet
}

// matcher is a Match with its texts folded once for many messages. Conditions on a column of their own, such as Unseen, are in the
// statement instead.
type matcher struct {
	Match
	from, subject string // folded
}

func (m Match) compile() matcher {
	return matcher{Match: m, from: fold(m.From), subject: fold(m.Subject)}
}

// accepts reports whether a message matches.
func (m *matcher) accepts(s *storedSummary) bool {
	switch {
	case m.Attachment && !s.HasAttachments, m.Link && !s.HasLinks:
		return false
	case m.from != "" && !strings.Contains(fold(s.From.Address), m.from) && !strings.Contains(fold(s.From.Name), m.from):
		return false
	}
	return m.subject == "" || strings.Contains(fold(s.Subject), m.subject)
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
