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

// Bounds of a query, so that none takes long.
const (
	queryMax = 1000 // octets
	termsMax = 16
)

// Query is a parsed search: a mail must meet all terms. It is immutable and may be used by several goroutines.
type Query struct{ terms []term }

// term is a condition of a search; not negates it.
type term struct {
	not   bool
	match func(*entry) bool
}

// matches reports whether a mail meets all conditions.
func (q Query) matches(e *entry) bool {
	for _, t := range q.terms {
		if t.match(e) == t.not {
			return false
		}
	}
	return true
}

// ParseQuery parses a search in Mailpit's syntax (docs/spec/mailpit.md#search): terms joined by AND, each a word, a "phrase" or
// a prefix with a value, negated by - or !. Times without a zone are in the given location. Error: request.invalid.
func ParseQuery(text string, in *time.Location) (q Query, err error) {
	if len(text) > queryMax {
		return q, problem.Invalid("?query", "must have at most %d octets", queryMax)
	}
	for _, word := range words(text) {
		t := term{}
		if rest := strings.TrimLeft(word, "-!"); rest != word {
			word, t.not = rest, true
		}
		if word = strings.ToLower(word); word == "" {
			continue
		}
		if t.match, err = condition(word, in); err != nil {
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

// words splits a query at spaces outside of quotes, and removes the quotes: to:"a b" is one word. A quote that is not
// closed ends with the query. A quote in the middle of a word is removed too. An empty pair of quotes is an empty word.
func words(text string) (all []string) {
	var b strings.Builder
	quoted, any := false, false
	for _, r := range text {
		switch {
		case r == '"':
			quoted, any = !quoted, true
		case !quoted && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if any {
				all = append(all, b.String())
			}
			b.Reset()
			any = false
		default:
			b.WriteRune(r)
			any = true
		}
	}
	if any {
		all = append(all, b.String())
	}
	return all
}

// condition returns the condition of a word in lower case. An unknown prefix is a part of the word: http://x is
// searched as it stands.
func condition(word string, in *time.Location) (func(*entry) bool, error) {
	prefix, value, _ := strings.Cut(word, ":")
	value = strings.TrimSpace(value)
	if f := field(prefix, value); f != nil {
		return f, nil
	}
	switch prefix {
	case "is":
		if f := status(value); f != nil {
			return f, nil
		}
	case "has":
		switch value {
		case "attachment", "attachments":
			return func(e *entry) bool { return e.files }, nil
		case "inline", "inlines":
			return func(e *entry) bool { return e.inline }, nil
		}
	case "tag":
		return func(*entry) bool { return false }, nil // there are no tags
	case "after", "before":
		at, err := moment(value, in)
		if err != nil {
			return nil, err
		}
		if prefix == "after" {
			return func(e *entry) bool { return e.at >= at }, nil
		}
		return func(e *entry) bool { return e.at < at }, nil
	case "larger", "smaller":
		size, err := octets(value)
		if err != nil {
			return nil, err
		}
		if prefix == "larger" {
			return func(e *entry) bool { return e.size > size }, nil
		}
		return func(e *entry) bool { return e.size < size }, nil
	}
	n := newNeedle(word)
	return func(e *entry) bool { return n.in(e.all) }, nil
}

// field returns the condition that a field holds a value, or nil for another prefix. An empty value matches every mail.
func field(prefix, value string) func(*entry) bool {
	n := newNeedle(value)
	has := func(of func(*entry) string) func(*entry) bool {
		return func(e *entry) bool { return n.in(of(e)) }
	}
	switch prefix {
	case "to":
		return has(func(e *entry) string { return e.to })
	case "from":
		return has(func(e *entry) string { return e.from })
	case "cc":
		return has(func(e *entry) string { return e.cc })
	case "bcc":
		return has(func(e *entry) string { return e.bcc })
	case "reply-to":
		return has(func(e *entry) string { return e.replyTo })
	case "subject":
		return has(func(e *entry) string { return e.subject })
	case "message-id":
		n = newNeedle(strings.Trim(value, "<>"))
		return has(func(e *entry) string { return e.messageID })
	case "addressed":
		return func(e *entry) bool { return n.in(e.addresses()) }
	}
	return nil
}

// status returns the condition of is:, or nil. No mail is tagged, since Gonebox has no tags.
func status(value string) func(*entry) bool {
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

// addresses returns all addresses, which follow each other in all.
func (e *entry) addresses() string {
	if e.gone {
		return ""
	}
	begin := len(e.subject) + 1
	return e.all[begin : begin+len(e.from)+len(e.to)+len(e.cc)+len(e.bcc)+len(e.replyTo)+4]
}

// needle is a text to look for. It is looked for from its rarest octet on, since package strings looks for the first octet and
// would stop at nearly every word for a common one.
type needle struct {
	text  string
	pivot int
}

// common are octets from the rarest to the most frequent in mails; octets that are not listed count as rarer than all
// of them.
const common = "zqxjkvbwy97853604f21pgumcldhrsnia@.o<>te\n "

// newNeedle returns the needle for a text in lower case. An empty text is in every other.
func newNeedle(text string) needle {
	n, best := needle{text: text}, len(common)
	for i := range len(text) {
		if rank := strings.IndexByte(common, text[i]); rank < best {
			n.pivot, best = i, rank
		}
	}
	return n
}

// in reports whether s holds the needle.
func (n needle) in(s string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], n.text[n.pivot:])
		if i < 0 {
			return false
		}
		if at += i; at >= n.pivot && s[at-n.pivot:at] == n.text[:n.pivot] {
			return true
		}
		at++
	}
}

// moment parses a time, in microseconds since 1970. The word is in lower case by then, but layouts with month names, T
// or Z are not: so both are converted.
func moment(text string, in *time.Location) (int64, error) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02", "2006/01/02", "2006-01-02t15:04:05", "2006-01-02 15:04:05", "2006-01-02t15:04", "2006-01-02 15:04", "2006/01/02 15:04:05",
		"2006-01", "02 jan 2006", "jan 2 2006", "jan 2, 2006",
	} {
		if at, err := time.ParseInLocation(strings.ToLower(layout), text, in); err == nil {
			return at.UnixMicro(), nil
		}
		if at, err := time.ParseInLocation(layout, strings.ToUpper(text), in); err == nil {
			return at.UnixMicro(), nil
		}
	}
	return 0, problem.Invalid("?query", "%q is not a time; write it like 2026-03-14 or 2026-03-14T12:00:00Z", text)
}

var sizes = regexp.MustCompile(`^(\d{1,12})\s*(b|k|kb|m|mb)?$`)

// octets parses a size such as 5000, 12k or 3mb.
func octets(text string) (int64, error) {
	parts := sizes.FindStringSubmatch(text)
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

// FieldQuery returns the query for mails with a text in the sender (from), in a recipient (to) or anywhere (containing), as
// MailHog searches; ok is false for another kind.
func FieldQuery(kind, text string) (q Query, ok bool) {
	n, t := newNeedle(strings.ToLower(truncate.Octets(text, queryMax))), term{}
	switch kind {
	case "from":
		t.match = func(e *entry) bool { return n.in(e.from) }
	case "to":
		t.match = func(e *entry) bool {
			return n.in(e.to) || n.in(e.cc) || n.in(e.bcc)
		}
	case "containing":
		t.match = func(e *entry) bool { return n.in(e.all) }
	default:
		return q, false
	}
	return Query{terms: []term{t}}, true
}
