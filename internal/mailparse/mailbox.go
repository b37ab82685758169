package mailparse

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// address returns the mailbox that the lexer has read, zero if it has read none.
func (l *addressLexer) address() Address {
	if l.bracket {
		name := l.decode(l.source(l.phrase, l.phraseAt))
		if name == "" {
			name = l.commentName()
		}
		return Address{Name: name, Addr: addrSpec(l.decode(l.source(l.angle, l.angleAt)))}
	}
	addr, name := l.bareAddress()
	if addr == nil {
		return l.encodedMailbox()
	}
	l.several = l.several || bytes.IndexByte(name, '@') >= 0
	a := Address{Addr: addrSpec(l.decode(string(addr))), Name: l.decode(string(name))}
	if a.Name == "" {
		a.Name = l.commentName()
	}
	return a
}

// commentName returns the name in a comment after the address. A comment within the address is not a name.
func (l *addressLexer) commentName() string {
	if l.named < len(trimSpaceRight(l.phrase)) {
		return ""
	}
	return l.decode(string(l.comment))
}

// bareAddress returns the address in a phrase without angle brackets, the last word with an at sign in it, and the
// words before it, which are the name unless a comma separates them. addr is nil if there is none.
func (l *addressLexer) bareAddress() (addr, name []byte) {
	phrase := l.phrase
	if l.local >= 0 {
		return phrase[l.local:], phrase[min(l.comma, l.local):l.local]
	}
	phrase = phrase[l.comma:]
	if !l.at || bytes.IndexByte(phrase, '@') < 0 {
		return nil, nil
	}
	if bytes.Contains(phrase, []byte(" @")) || bytes.Contains(phrase, []byte("@ ")) {
		phrase = bytes.ReplaceAll(phrase, []byte(" @"), []byte("@"))
		phrase = bytes.ReplaceAll(phrase, []byte("@ "), []byte("@"))
	}
	at := bytes.LastIndexByte(phrase, '@')
	start := bytes.LastIndexByte(phrase[:at], ' ') + 1
	end := len(phrase)
	if i := bytes.IndexByte(phrase[at:], ' '); i >= 0 {
		end = at + i
	}
	return phrase[start:end], phrase[:start]
}

// encodedMailbox returns the mailbox of a phrase without an address: a name alone, or name and address together in one
// encoded word, as some senders write them.
func (l *addressLexer) encodedMailbox() Address {
	raw := string(l.phrase)
	name := l.decode(raw)
	if !l.inner && strings.IndexByte(name, '@') >= 0 && strings.Contains(raw, "=?") {
		inner := addressLexer{s: name, inner: true}
		if a := inner.mailbox(); a.Addr != "" {
			l.several = l.several || inner.several || inner.pos < len(inner.s)
			return a
		}
	}
	return Address{Name: name}
}

// source returns text as a string. It is not a copy if text is as it was read at a place in s and needs no decoding, as in most
// mails; then the spaces at its end are left out.
func (l *addressLexer) source(text []byte, at int) string {
	end := len(text)
	for end > 0 && text[end-1] == ' ' {
		end--
	}
	if at+end <= len(l.s) {
		if s := l.s[at : at+end]; s == string(text[:end]) && !dirty(s) {
			return s
		}
	}
	return string(text)
}

// decode makes a clean string of a phrase, without the quotes some senders write around an already quoted name.
func (l *addressLexer) decode(phrase string) string {
	if phrase == "" {
		return ""
	}
	s := strings.Trim(decodeHeader(phrase, l.charset), " \t,")
	if len(s) >= 2 && s[0] == '"' && strings.IndexByte(s[1:], '"') == len(s)-2 {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}

// addrSpec takes off an address what does not belong to it: an obsolete route (RFC 5322 §4.4), mailto:, quotes
// around the whole, the dot of a fully qualified domain.
func addrSpec(s string) string {
	if strings.HasPrefix(s, "@") {
		if i := strings.LastIndexByte(s, ':'); i >= 0 {
			s = s[i+1:]
		}
	}
	const scheme = "mailto:"
	if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
		s = s[len(scheme):]
	}
	if n := len(s); n > 2 && s[0] == s[n-1] && (s[0] == '\'' || s[0] == '"') {
		s = s[1 : n-1]
	}
	return strings.TrimRight(s, ".")
}

// isAddrSpec reports whether s is one address by RFC 5322 §3.4.1, with the characters of RFC 6532 that can be seen. All
// readers find the same domain in it.
func isAddrSpec(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at == len(s)-1 {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return false
		}
	}
	if local := s[:at]; local[0] != '"' {
		return !strings.ContainsAny(local, " ()<>[]:;,@\\\"")
	}
	_, rest, ok := cutQuoted(s[1:at])
	return ok && rest == ""
}
