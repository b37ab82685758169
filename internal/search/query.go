package search

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
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
type Query struct {
	terms  []term
	varies bool
}

// term is a condition of a search.
type term struct {
	negated bool // the condition must not hold
	match   func(*Document) bool
}

// Matches reports whether a document satisfies all terms.
func (q Query) Matches(d *Document) bool {
	for _, t := range q.terms {
		if t.match(d) == t.negated {
			return false
		}
	}
	return true
}

// Select returns the positions of those of n documents that match, in their order. Those that document returns nil for do not. It divides
// them among goroutines, which end before it returns, early if ctx ends.
func (q Query) Select(ctx context.Context, n int, document func(i int) *Document) []int {
	const minDocuments = 4096 // fewer are not worth a goroutine of their own
	parts := min(runtime.GOMAXPROCS(0), n/minDocuments+1)
	found := make([][]int, parts) // each goroutine writes only its own element, which preserves the order
	var wg sync.WaitGroup
	for part := range parts {
		wg.Go(func() {
			for i := part * n / parts; i < (part+1)*n/parts; i++ {
				if i%minDocuments == 0 && ctx.Err() != nil {
					return // the client has disconnected
				}
				if d := document(i); d != nil && q.Matches(d) {
					found[part] = append(found[part], i)
				}
			}
		})
	}
	wg.Wait()
	return slices.Concat(found...)
}

// Varies reports whether a document may match at one time and not at another, because the query asks whether it was read, or for its tags.
func (q Query) Varies() bool { return q.varies }

// Before returns the query for those mails that were received before a time, in microseconds since 1970.
func (q Query) Before(at int64) Query {
	q.terms = append(slices.Clip(q.terms), term{match: func(d *Document) bool { return d.ReceivedAt < at }})
	return q
}

// Parse parses a search in Mailpit's syntax (docs/spec/mailpit.md#search): a list of terms, all of which must hold.
// Each is a word, a "phrase" or a prefix with a value, and is negated by a leading - or !. Times without a zone are in
// loc. Error: request.invalid, which says that the text is at pointer.
func Parse(pointer, text string, loc *time.Location) (q Query, err error) {
	if len(text) > queryMax {
		return q, problem.Invalid(pointer, "must have at most %d octets", queryMax)
	}
	for _, word := range splitWords(text) {
		t := term{}
		if rest := strings.TrimLeft(word, "-!"); rest != word {
			word, t.negated = rest, true
		}
		if word = strings.ToLower(word); strings.TrimSpace(word) == "" {
			continue
		}
		if t.match, err = parseCondition(word, loc); err != nil {
			return q, problem.Invalid(pointer, "%v", err)
		}
		q.terms, q.varies = append(q.terms, t), q.varies || strings.HasPrefix(word, "is:") || strings.HasPrefix(word, "tag:")
	}
	if len(q.terms) > termsMax {
		return q, problem.Invalid(pointer, "must have at most %d terms", termsMax)
	}
	if len(q.terms) == 0 {
		return q, problem.Invalid(pointer, "must not be empty")
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
func parseCondition(word string, loc *time.Location) (func(*Document) bool, error) {
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
			return func(d *Document) bool { return d.HasAttachments }, nil
		case "inline", "inlines":
			return func(d *Document) bool { return d.HasInline }, nil
		}
	case "tag":
		return func(d *Document) bool { return value == "" || d.hasTag(value) }, nil
	case "after", "before":
		at, err := ParseTime(value, loc)
		if err != nil {
			return nil, err
		}
		if prefix == "after" {
			return func(d *Document) bool { return d.ReceivedAt >= at }, nil
		}
		return func(d *Document) bool { return d.ReceivedAt < at }, nil
	case "larger", "smaller":
		size, err := parseSize(value)
		if err != nil {
			return nil, err
		}
		if prefix == "larger" {
			return func(d *Document) bool { return d.Size > size }, nil
		}
		return func(d *Document) bool { return d.Size < size }, nil
	}
	s := newSubstring(word)
	return func(d *Document) bool { return s.in(d.searchText) }, nil
}

// fieldCondition returns the condition that the field named by a prefix contains a value. It returns nil if the prefix
// is not the name of a field. An empty value matches every mail.
func fieldCondition(prefix, value string) func(*Document) bool {
	s := newSubstring(value)
	contains := func(field func(*Document) string) func(*Document) bool {
		return func(d *Document) bool { return s.in(field(d)) }
	}
	switch prefix {
	case "to":
		return contains(func(d *Document) string { return d.to })
	case "from":
		return contains(func(d *Document) string { return d.from })
	case "cc":
		return contains(func(d *Document) string { return d.cc })
	case "bcc":
		return contains(func(d *Document) string { return d.bcc })
	case "reply-to":
		return contains(func(d *Document) string { return d.replyTo })
	case "subject":
		return contains(func(d *Document) string { return d.subject })
	case "message-id":
		s = newSubstring(strings.Trim(value, "<>"))
		return contains(func(d *Document) string { return d.messageID })
	case "addressed":
		return contains((*Document).addresses)
	}
	return nil
}

// statusCondition returns the condition of the prefix is: with a value, or nil if the value is unknown.
func statusCondition(value string) func(*Document) bool {
	switch value {
	case "read":
		return func(d *Document) bool { return d.Seen }
	case "unread":
		return func(d *Document) bool { return !d.Seen }
	case "tagged":
		return func(d *Document) bool { return len(d.Tags) > 0 }
	}
	return nil
}

// hasTag reports whether the mail has a tag, in any case.
func (d *Document) hasTag(tag string) bool {
	return slices.ContainsFunc(d.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// addresses returns the texts of all address fields, which are adjacent in searchText. The 4 below are the line feeds
// between the five fields.
func (d *Document) addresses() string {
	if d.searchText == "" { // it was cleared
		return ""
	}
	begin := len(d.subject) + 1
	return d.searchText[begin : begin+len(d.from)+len(d.to)+len(d.cc)+len(d.bcc)+len(d.replyTo)+4]
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

// misses is how many times a comparison of the part before the rarest octet may fail. In a text that repeats the part after it, each
// position would be compared, so that a search of a few such texts would occupy a processor for minutes.
const misses = 16

// in reports whether text contains the substring. It takes time that is proportional to the length of text.
func (s substring) in(text string) bool {
	at := 0
	for range misses {
		i := strings.Index(text[at:], s.text[s.rarest:])
		if i < 0 {
			return false
		}
		if at += i; at >= s.rarest && text[at-s.rarest:at] == s.text[:s.rarest] {
			return true
		}
		at++
	}
	return strings.Contains(text[max(at-s.rarest, 0):], s.text)
}

// timeLayouts are the forms of a time in a query. Without a zone a time is in that of the query.
var timeLayouts = []string{
	time.RFC3339Nano, time.DateOnly, "2006/01/02", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04",
	"2006/01/02 15:04:05", "2006-01", "2 Jan 2006", "2 January 2006", "Jan 2 2006", "Jan 2, 2006", "January 2 2006", "January 2, 2006",
}

// ParseTime parses a time in one of the forms that a query may have, in any case, and returns it in microseconds since 1970.
// Package time expects T and Z in upper case and takes the names of months in either.
func ParseTime(text string, loc *time.Location) (int64, error) {
	upper := strings.ToUpper(text)
	for _, layout := range timeLayouts {
		if at, err := time.ParseInLocation(layout, upper, loc); err == nil {
			return at.UnixMicro(), nil
		}
	}
	return 0, fmt.Errorf("%q is not a time; write it like 2026-03-14 or 2026-03-14T12:00:00Z", text)
}

// sizePattern matches a number and a unit, in lower case.
var sizePattern = regexp.MustCompile(`^(\d{1,12})\s*(b|k|kb|m|mb)?$`)

// parseSize parses a size such as 5000, 12k or 3mb and returns it in octets. k and m are powers of 1024.
func parseSize(text string) (int64, error) {
	parts := sizePattern.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%q is not a size; write it like 5000, 12k or 3mb", text)
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

// FieldQuery returns the query for mails with a text in the sender of the header or of the envelope (kind from), in a
// recipient (to) or anywhere (containing), as in MailHog's API. ok is false for another kind.
func FieldQuery(kind, text string) (q Query, ok bool) {
	s, t := newSubstring(strings.ToLower(truncate.Octets(text, queryMax))), term{}
	switch kind {
	case "from":
		t.match = func(d *Document) bool { return s.in(d.from) || s.in(d.sender) }
	case "to":
		t.match = func(d *Document) bool {
			return s.in(d.to) || s.in(d.cc) || s.in(d.bcc)
		}
	case "containing":
		t.match = func(d *Document) bool { return s.in(d.searchText) }
	default:
		return q, false
	}
	return Query{terms: []term{t}}, true
}
