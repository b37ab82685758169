package mailparse

import (
	"bytes"
	"strings"
)

// addresses appends the mailboxes of an address list (RFC 5322 §3.4) to list, groups flattened.
func (l *addressLexer) addresses(list []Address, value string) []Address {
	l.s, l.pos, l.noQuote, l.noWord, l.several = value, 0, false, false, false
	for len(list) < MaxAddresses && l.pos < len(l.s) {
		if a := l.mailbox(); a != (Address{}) {
			list = append(list, a)
		}
	}
	return list
}

// addressLexer parses mailboxes one by one. It reads the text once: if a quote or an encoded word has no end it stores
// that, and does not search for the end of the next, so that the time is linear in the text.
type addressLexer struct {
	s       string
	pos     int
	charset string

	phrase   []byte // the words outside of the angle brackets, a single space between them
	angle    []byte // the text in angle brackets
	phraseAt int    // where in s the text that phrase begins with is
	angleAt  int    // likewise of angle
	comment  []byte // the text of the last comment
	named    int    // how long phrase was at that comment
	bracket  bool   // there were angle brackets
	at       bool   // there is an at sign in phrase
	comma    int    // where in phrase the text after its last comma begins
	local    int    // where in phrase a quoted local part begins, or -1

	several         bool // a mailbox had two addresses, of which none is a name in front of the other's brackets
	noQuote, noWord bool // no quote, no encoded word ends in the rest of s
	inner           bool // s came out of an encoded word; it is not opened a second time
}

// mailbox reads up to the comma or the end of the group; the result is zero if there is none.
func (l *addressLexer) mailbox() Address {
	l.phrase, l.angle, l.comment = l.phrase[:0], l.angle[:0], l.comment[:0]
	l.bracket, l.at, l.comma, l.local = false, false, 0, -1
	for l.pos < len(l.s) {
		c := l.s[l.pos]
		l.pos++
		switch c {
		case ';':
			return l.address()
		case ',':
			if l.bracket || l.at || len(l.phrase) == 0 {
				return l.address()
			}
			// A name with a comma in it that should have been quoted: Doe, John <john@example.com>
			l.phrase = append(trimSpaceRight(l.phrase), ", "...)
			l.comma = len(l.phrase)
		case ':':
			l.colon()
		case '<':
			l.readAngle()
		case '(':
			l.readComment()
		case '"':
			l.readQuoted()
		case '[':
			l.readLiteral()
		case ' ', '\t', '>', ')':
			if n := len(l.phrase); n > 0 && l.phrase[n-1] != ' ' {
				l.phrase = append(l.phrase, ' ')
			}
		default:
			l.readAtom(l.pos - 1)
		}
	}
	return l.address()
}

// colon ends the name of a group, which is dropped.
func (l *addressLexer) colon() {
	if !l.bracket && !l.at {
		l.phrase, l.comma, l.local = l.phrase[:0], 0, -1
	}
}

// readAtom reads the run of ordinary characters at start, or an encoded word with all that is in it: in practice words
// contain commas, quotes and brackets.
func (l *addressLexer) readAtom(start int) {
	if len(l.phrase) == 0 {
		l.phraseAt = start
	}
	if !l.noWord && strings.HasPrefix(l.s[start:], "=?") {
		_, n, ended := cutWord(l.s[start:])
		l.noWord = !ended
		if n > 0 {
			l.phrase = append(l.phrase, l.s[start:start+n]...)
			l.pos = start + n
			return
		}
	}
	end := start
	for end < len(l.s) && addressClass[l.s[end]] == 0 && (end == start || l.s[end] != '=') {
		l.at = l.at || l.s[end] == '@'
		end++
	}
	l.several = l.several || l.bracket && strings.IndexByte(l.s[start:end], '@') >= 0
	l.phrase = append(l.phrase, l.s[start:end]...)
	l.pos = end
}

// addressClass marks the characters that end an atom.
var addressClass = makeAddressClass()

// makeAddressClass builds addressClass.
func makeAddressClass() (class [256]byte) {
	for _, c := range []byte(" \t,;:<>()\"[") {
		class[c] = 1
	}
	return class
}

// readQuoted reads a quoted string. One that an at sign follows is a local part and keeps its quotes if it needs them;
// a quote that nothing closes is dropped.
func (l *addressLexer) readQuoted() {
	if l.noQuote {
		return
	}
	text, rest, ok := cutQuoted(l.s[l.pos:])
	if !ok {
		l.noQuote = true
		return
	}
	if len(l.phrase) == 0 {
		l.phraseAt = l.pos
	}
	raw := l.s[l.pos-1 : len(l.s)-len(rest)]
	l.pos = len(l.s) - len(rest)
	l.at = l.at || strings.IndexByte(text, '@') >= 0
	if strings.HasPrefix(rest, "@") {
		l.local = len(l.phrase)
		if strings.ContainsAny(text, " \t,;:<>()\"[]@\\") {
			text = raw
		}
	}
	l.phrase = append(l.phrase, text...)
}

// readLiteral reads a domain literal, in which colons and commas do not separate addresses.
func (l *addressLexer) readLiteral() {
	l.phrase = append(l.phrase, '[')
	if !l.at {
		return
	}
	for l.pos < len(l.s) && l.s[l.pos] != ',' && l.s[l.pos] != ' ' {
		c := l.s[l.pos]
		l.pos++
		l.phrase = append(l.phrase, c)
		if c == ']' {
			return
		}
	}
}

// readComment reads a comment, with nested ones, and keeps its text: old mailers put the name there.
func (l *addressLexer) readComment() {
	l.comment, l.named = l.comment[:0], len(trimSpaceRight(l.phrase))
	for depth := 1; l.pos < len(l.s); l.pos++ {
		switch c := l.s[l.pos]; c {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				l.pos++
				return
			}
		case '\\':
		default:
			l.comment = append(l.comment, c)
		}
	}
}

// readAngle reads the text in angle brackets, without white space and comments. If the closing bracket is missing, a
// comma after an address ends it.
func (l *addressLexer) readAngle() {
	if l.bracket && len(l.angle) > 0 {
		l.several = l.several || bytes.IndexByte(l.angle, '@') >= 0
		l.phrase = append(append(append(l.phrase, '<'), l.angle...), '>', ' ') // name <nick> <address>
	}
	l.bracket = true
	l.angle, l.angleAt = l.angle[:0], l.pos
	at := false
	for l.pos < len(l.s) {
		c := l.s[l.pos]
		l.pos++
		switch c {
		case '>':
			return
		case ',', ';':
			if at && l.angle[0] != '@' { // else it is a route
				l.pos--
				return
			}
			l.angle = append(l.angle, c)
		case '(':
			l.readComment()
			l.comment = l.comment[:0]
		case '"':
			l.readAngleQuoted()
		case ' ', '\t', '<':
		default:
			at = at || c == '@'
			l.angle = append(l.angle, c)
		}
	}
}

// readAngleQuoted reads a quoted string within angle brackets, with its quotes.
func (l *addressLexer) readAngleQuoted() {
	if l.noQuote {
		return
	}
	_, rest, ok := cutQuoted(l.s[l.pos:])
	if !ok {
		l.noQuote = true
		return
	}
	l.angle = append(l.angle, l.s[l.pos-1:len(l.s)-len(rest)]...)
	l.pos = len(l.s) - len(rest)
}
