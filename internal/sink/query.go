package sink

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/truncate"
)

// These limits bound the time that a query takes.
const (
	queryMax = 1000 // octets
	termsMax = 16
)

// Query is a parsed search, which a mail matches if it satisfies all terms. It is immutable and may be used by several
// goroutines.
type Query struct{ terms []term }

// term is a condition of a search.
type term struct {
	negated bool // the condition must not hold
	match   func(*entry) bool
}

// matches reports whether a mail satisfies all terms.
func (q Query) matches(e *entry) bool {
	for _, t := range q.terms {
		if t.match(e) == t.negated {
			return false
		}
	}
	return true
}

// ParseQuery parses a search in Mailpit's syntax (docs/spec/mailpit.md#search): a list of terms, all of which must hold.
// Each is a word, a "phrase" or a prefix with a value, and is negated by a leading - or !. Times without a zone are in
// loc. Error: request.invalid.
func ParseQuery(text string, loc *time.Location) (q Query, err error) {
	if len(text) > queryMax {
		return q, problem.Invalid("?query", "must have at most %d octets", queryMax)
	}
	for _, word := range splitWords(text) {
		t := term{}
		if rest := strings.TrimLeft(word, "-!"); rest != word {
			word, t.negated = rest, true
		}
		if word = strings.ToLower(word); word == "" {
			continue
		}
		if t.match, err = parseCondition(word, loc); err != nil {
			return q, err
		}
		q.terms = append(q.terms, t)
	}
	if len(q.terms) > termsMax {
		return q, problem.Invalid("?query", "must have at most %d terms", termsMax)
	}
	if len(q.terms) == 0 {
		return q, problem.Invalid("?query", "must not be empty")
	}
	return q, nil
}

// splitWords splits a query at white space outside of quotes, and removes the quotes, also in the middle of a word:
// to:"a b" is one word. A quote that is not closed ends with the query. An empty pair of quotes is an empty word.
func splitWords(text string) (words []string) {
	var b strings.Builder
	quoted, inWord := false, false
	for _, r := range text {
		switch {
		case r == '"':
			quoted, inWord = !quoted, true
		case !quoted && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if inWord {
				words = append(words, b.String())
			}
			b.Reset()
			inWord = false
		default:
			b.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, b.String())
	}
	return words
}

// parseCondition parses a word in lower case. An unknown prefix is a part of the word: http://x is searched for
// literally.
func parseCondition(word string, loc *time.Location) (func(*entry) bool, error) {
	prefix, value, _ := strings.Cut(word, ":")
	value = strings.TrimSpace(value)
	if f := fieldCondition(prefix, value); f != nil {
		return f, nil
	}
	switch prefix {
	case "is":
		if f := statusCondition(value); f != nil {
			return f, nil
		}
	case "has":
		switch value {
		case "attachment", "attachments":
			return func(e *entry) bool { return e.hasAttachments }, nil
		case "inline", "inlines":
			return func(e *entry) bool { return e.hasInline }, nil
		}
	case "tag":
		return func(*entry) bool { return false }, nil // there are no tags
	case "after", "before":
		at, err := parseTime(value, loc)
		if err != nil {
			return nil, err
		}
		if prefix == "after" {
			return func(e *entry) bool { return e.receivedAt >= at }, nil
		}
		return func(e *entry) bool { return e.receivedAt < at }, nil
	case "larger", "smaller":
		size, err := parseSize(value)
		if err != nil {
			return nil, err
		}
		if prefix == "larger" {
			return func(e *entry) bool { return e.size > size }, nil
		}
		return func(e *entry) bool { return e.size < size }, nil
	}
	s := newSubstring(word)
	return func(e *entry) bool { return s.in(e.searchText) }, nil
}

// fieldCondition returns the condition that the field named by a prefix contains a value. It returns nil if the prefix
// is not the name of a field. An empty value matches every mail.
func fieldCondition(prefix, value string) func(*entry) bool {
	s := newSubstring(value)
	contains := func(field func(*entry) string) func(*entry) bool {
		return func(e *entry) bool { return s.in(field(e)) }
	}
	switch prefix {
	case "to":
		return contains(func(e *entry) string { return e.to })
	case "from":
		return contains(func(e *entry) string { return e.from })
	case "cc":
		return contains(func(e *entry) string { return e.cc })
	case "bcc":
		return contains(func(e *entry) string { return e.bcc })
	case "reply-to":
		return contains(func(e *entry) string { return e.replyTo })
	case "subject":
		return contains(func(e *entry) string { return e.subject })
	case "message-id":
		s = newSubstring(strings.Trim(value, "<>"))
		return contains(func(e *entry) string { return e.messageID })
	case "addressed":
		return contains((*entry).addresses)
	}
	return nil
}

// statusCondition returns the condition of the prefix is: with a value, or nil if the value is unknown. No mail is
// tagged, since Gonebox has no tags.
func statusCondition(value string) func(*entry) bool {
	switch value {
	case "read":
		return func(e *entry) bool { return e.seen }
	case "unread":
		return func(e *entry) bool { return !e.seen }
	case "tagged":
		return func(*entry) bool { return false }
	}
	return nil
}

// addresses returns the texts of all address fields, which are adjacent in searchText. The 4 below are the line feeds
// between the five fields.
func (e *entry) addresses() string {
	if e.deleted {
		return ""
	}
	begin := len(e.subject) + 1
	return e.searchText[begin : begin+len(e.from)+len(e.to)+len(e.cc)+len(e.bcc)+len(e.replyTo)+4]
}

// substring is a text to search for. The search is for the part that begins at the rarest octet, and then compares the
// part before it. strings.Index looks for the first octet, which, if it is common, occurs in nearly every word.
type substring struct {
	text   string
	rarest int // index of the rarest octet in text
}

// octetsByRarity lists octets from the rarest to the most frequent in mails. An octet that is not listed counts as rarer
// than these.
const octetsByRarity = "zqxjkvbwy97853604f21pgumcldhrsnia@.o<>te\n "

// newSubstring returns the substring for a text in lower case. The empty text is contained in every text.
func newSubstring(text string) substring {
	s, best := substring{text: text}, len(octetsByRarity)
	for i := range len(text) {
		if rank := strings.IndexByte(octetsByRarity, text[i]); rank < best {
			s.rarest, best = i, rank
		}
	}
	return s
}

// in reports whether text contains the substring.
func (s substring) in(text string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], s.text[s.rarest:])
		if i < 0 {
			return false
		}
		if at += i; at >= s.rarest && text[at-s.rarest:at] == s.text[:s.rarest] {
			return true
		}
		at++
	}
}

// timeLayouts are the forms of a time in a query. Without a zone a time is in that of the query.
var timeLayouts = []string{
	time.RFC3339Nano, time.DateOnly, "2006/01/02", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04",
	"2006/01/02 15:04:05", "2006-01", "2 Jan 2006", "2 January 2006", "Jan 2 2006", "Jan 2, 2006", "January 2 2006", "January 2, 2006",
}

// parseTime parses a time, in lower case, and returns it in microseconds since 1970. Package time expects T and Z in upper
// case and takes the names of months in either.
func parseTime(text string, loc *time.Location) (int64, error) {
	upper := strings.ToUpper(text)
	for _, layout := range timeLayouts {
		if at, err := time.ParseInLocation(layout, upper, loc); err == nil {
			return at.UnixMicro(), nil
		}
	}
	return 0, problem.Invalid("?query", "%q is not a time; write it like 2026-03-14 or 2026-03-14T12:00:00Z", text)
}

// sizePattern matches a number and a unit, in lower case.
var sizePattern = regexp.MustCompile(`^(\d{1,12})\s*(b|k|kb|m|mb)?$`)

// parseSize parses a size such as 5000, 12k or 3mb and returns it in octets. k and m are powers of 1024.
func parseSize(text string) (int64, error) {
	parts := sizePattern.FindStringSubmatch(text)
	if parts == nil {
		return 0, problem.Invalid("?query", "%q is not a size; write it like 5000, 12k or 3mb", text)
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse a size: %w", err)
	}
	switch strings.TrimSuffix(parts[2], "b") {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	return n, nil
}

// FieldQuery returns the query for mails with a text in the sender (kind from), in a recipient (to) or anywhere
// (containing), as in MailHog's API. ok is false for another kind.
func FieldQuery(kind, text string) (q Query, ok bool) {
	s, t := newSubstring(strings.ToLower(truncate.Octets(text, queryMax))), term{}
	switch kind {
	case "from":
		t.match = func(e *entry) bool { return s.in(e.from) }
	case "to":
		t.match = func(e *entry) bool {
			return s.in(e.to) || s.in(e.cc) || s.in(e.bcc)
		}
	case "containing":
		t.match = func(e *entry) bool { return s.in(e.searchText) }
	default:
		return q, false
	}
	return Query{terms: []term{t}}, true
}
