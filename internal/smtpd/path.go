package smtpd

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Limits of RFC 5321 §4.5.3.1, in octets.
const (
	maxLocal  = 64
	maxDomain = 255
	maxPath   = 256 // with its brackets
)

// address is the mailbox of a path. It aliases the command line, so it is valid until the next read. The null
// reverse-path is the zero address.
type address struct {
	local  []byte // with its quotes where it needs them
	domain []byte // empty in <Postmaster>
	utf8   bool   // has octets beyond ASCII
}

// isNull reports whether a is the null reverse-path.
func (a address) isNull() bool { return len(a.local) == 0 }

// isPostmaster reports whether a is <Postmaster>, the only address without a domain (RFC 5321 §4.5.1).
func (a address) isPostmaster() bool {
	return len(a.domain) == 0 && bytes.EqualFold(a.local, []byte("postmaster"))
}

// isComplete reports whether a has both its parts.
func (a address) isComplete() bool { return len(a.local) > 0 && len(a.domain) > 0 }

// String returns the address without brackets, "" for the null reverse-path, and "postmaster" for <Postmaster>.
func (a address) String() string {
	switch {
	case a.isNull():
		return ""
	case a.isPostmaster():
		return "postmaster"
	default:
		return string(a.local) + "@" + string(a.domain)
	}
}

// parsePath reads a Reverse-path or Forward-path (RFC 5321 §4.1.2, RFC 6531 §3.3) from the front of p and returns what follows it.
// It ignores a source route (§3.3, appendix C). Unlike the RFC it accepts dots anywhere in a local part, since such addresses exist and this
// service creates them, and underscores in a domain.
func parsePath(p []byte) (a address, rest []byte, ok bool) {
	c := cursor{rest: p}
	if !c.skip('<') {
		return address{}, nil, false
	}
	if c.skip('>') {
		return address{}, c.rest, true
	}
	if c.peek('@') && !c.route() {
		return address{}, nil, false
	}
	local, ok := c.localPart()
	if !ok {
		return address{}, nil, false
	}
	var domain []byte
	if c.skip('@') {
		if domain, ok = c.domain(); !ok {
			return address{}, nil, false
		}
	}
	if !c.skip('>') {
		return address{}, nil, false
	}
	path := p[:len(p)-len(c.rest)]
	if len(path) > maxPath || !utf8.Valid(path) {
		return address{}, nil, false
	}
	isUTF8 := bytes.ContainsFunc(path, func(r rune) bool { return r >= utf8.RuneSelf })
	return address{local: local, domain: domain, utf8: isUTF8}, c.rest, true
}

// cursor reads a path from left to right. Its methods consume what they recognise. After a method has returned false, the
// position of the cursor is not defined.
type cursor struct{ rest []byte }

// peek reports whether an octet is next.
func (c *cursor) peek(want byte) bool { return len(c.rest) > 0 && c.rest[0] == want }

// skip consumes an octet if it is next.
func (c *cursor) skip(want byte) bool {
	if !c.peek(want) {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// run consumes and returns the longest prefix of octets for which in returns true.
func (c *cursor) run(in func(byte) bool) []byte {
	n := 0
	for n < len(c.rest) && in(c.rest[n]) {
		n++
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

// route reads a source route with its colon: "@a,@b:".
func (c *cursor) route() bool {
	for {
		if !c.skip('@') {
			return false
		}
		if _, ok := c.domain(); !ok {
			return false
		}
		if c.skip(':') {
			return true
		}
		if !c.skip(',') {
			return false
		}
	}
}

// localPart reads a Dot-string or Quoted-string of at most maxLocal octets.
func (c *cursor) localPart() (local []byte, ok bool) {
	if c.peek('"') {
		local, ok = c.quoted()
	} else {
		local = c.run(isLocal)
		ok = len(local) > 0
	}
	return local, ok && len(local) <= maxLocal
}

// quoted reads a Quoted-string. It removes the quotes if the local part does not need them (RFC 5321 §4.1.2).
func (c *cursor) quoted() (local []byte, ok bool) {
	whole := c.rest
	c.skip('"')
	for !c.peek('"') {
		escaped := c.skip('\\')
		if len(c.rest) == 0 || c.rest[0] < ' ' || c.rest[0] == 0x7f || (escaped && c.rest[0] >= utf8.RuneSelf) {
			return nil, false
		}
		c.rest = c.rest[1:]
	}
	content := whole[1 : len(whole)-len(c.rest)]
	c.skip('"')
	if len(content) > 0 && !bytes.ContainsFunc(content, func(r rune) bool { return r < utf8.RuneSelf && !isLocal(byte(r)) }) {
		return content, true
	}
	return whole[:len(content)+2], true
}

// domain reads a Domain or an address-literal.
func (c *cursor) domain() (domain []byte, ok bool) {
	whole := c.rest
	if c.skip('[') {
		inside := c.run(isLiteral)
		if len(inside) == 0 || !c.skip(']') {
			return nil, false
		}
		return whole[:len(inside)+2], true
	}
	domain = c.run(isDomain)
	if len(domain) == 0 || len(domain) > maxDomain {
		return nil, false
	}
	for label := range bytes.SplitSeq(domain, []byte(".")) {
		if len(label) == 0 || label[0] == '-' || label[len(label)-1] == '-' {
			return nil, false
		}
	}
	return domain, true
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isLocal reports whether an octet is a dot or belongs to atext with UTF-8 (RFC 6531 §3.3).
func isLocal(c byte) bool {
	return isAlphanumeric(c) || c >= utf8.RuneSelf || strings.IndexByte(".!#$%&'*+-/=?^_`{|}~", c) >= 0
}

// isDomain reports whether an octet may be in a domain, with U-labels and the underscore that some hosts have.
func isDomain(c byte) bool {
	return isAlphanumeric(c) || c >= utf8.RuneSelf || c == '-' || c == '_' || c == '.'
}

// isLiteral reports whether an octet is dcontent: printable ASCII without the brackets and the backslash (RFC 5321 §4.1.3).
func isLiteral(c byte) bool { return '!' <= c && c <= '~' && c != '[' && c != ']' && c != '\\' }
