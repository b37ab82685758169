package smtpd

import "bytes"

// unstuffer extracts a message from what follows DATA (RFC 5321 §4.1.1.4, §4.5.2). It finds the end, which is CRLF.CRLF and nothing
// else, and removes the dot that the client inserted before every line that begins with one. It works in place, with bytes.IndexByte
// and bytes.Count over whole blocks, and its result does not depend on how reads split the octets.
type unstuffer struct {
	limit  int64 // octets; the content of a larger message is counted but not kept
	size   int64 // octets of the message so far
	inLine bool  // not at the beginning of a line
	cr     bool  // the octet before the block is a CR
	ends   lineEnds
}

// lineEnds checks that all lines of a text end in CRLF, and that it has no NUL. Other servers may treat a bare CR or LF as
// the end of a line, and attackers use that to smuggle a second message. It looks at the octet before each LF. A bare CR
// is detected because there are then more CRs than CRLFs; counting is faster than looking at each CR.
type lineEnds struct {
	cr, crlf int64
	nul      bool
	bareLF   bool
}

// malformed reports whether the text contains a NUL, a bare LF or a bare CR.
func (e *lineEnds) malformed() bool { return e.nul || e.bareLF || e.cr != e.crlf }

// count counts the CRs in a piece of the text, and looks for NULs.
func (e *lineEnds) count(p []byte) {
	e.cr += int64(bytes.Count(p, []byte{'\r'}))
	e.nul = e.nul || bytes.IndexByte(p, 0) >= 0
}

// checkLF records an LF, and reports whether it ends a line, as it does after a CR.
func (e *lineEnds) checkLF(afterCR bool) bool {
	if afterCR {
		e.crlf++
	} else {
		e.bareLF = true
	}
	return afterCR
}

// check checks a complete text.
func (e *lineEnds) check(p []byte) {
	e.count(p)
	for i := 0; ; i++ {
		n := bytes.IndexByte(p[i:], '\n')
		if n < 0 {
			return
		}
		i += n
		e.checkLF(i > 0 && p[i-1] == '\r')
	}
}

// tooLarge reports whether the message is larger than the limit.
func (u *unstuffer) tooLarge() bool { return u.size > u.limit }

// scan reads p[kept:], where p[:kept] is the message so far. It returns how much of p is message now and the rest of
// p: up to two octets that cannot be classified without those to come or, when the end was found, what followed the
// end. n is 0 if the message is too large.
func (u *unstuffer) scan(p []byte, kept int) (n int, rest []byte, done bool) {
	from, at := kept, kept // p[from:at] is message not yet moved to its place
	for {
		if !u.inLine {
			switch classifyDot(p[at:]) {
			case dotUndecided:
				return u.keep(p, kept, from, at), p[at:], false
			case dotEnd:
				return u.keep(p, kept, from, at), p[at+len(".\r\n"):], true
			case dotStuffed:
				kept = u.keep(p, kept, from, at)
				at++
				from = at
			}
			u.inLine = true
		}
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			if len(p) > at {
				u.cr = p[len(p)-1] == '\r'
			}
			return u.keep(p, kept, from, len(p)), nil, false
		}
		afterCR := u.cr
		if i > 0 {
			afterCR = p[at+i-1] == '\r'
		}
		u.cr = false
		u.inLine = !u.ends.checkLF(afterCR)
		at += i + 1
	}
}

// keep moves the piece p[from:to] of the message behind p[:kept] and returns the new length of the message. If no dot
// was removed yet the piece is in its place already.
func (u *unstuffer) keep(p []byte, kept, from, to int) int {
	piece := p[from:to]
	u.ends.count(piece)
	u.size += int64(len(piece))
	if u.tooLarge() {
		return 0
	}
	if kept != from {
		copy(p[kept:], piece)
	}
	return kept + len(piece)
}

type dotCase int // what a line begins with

const (
	dotNone      dotCase = iota // the line does not begin with a dot
	dotStuffed                  // it begins with a dot that the client inserted
	dotEnd                      // it is the end of the message
	dotUndecided                // more octets are needed
)

// classifyDot returns what the beginning of a line is.
func classifyDot(line []byte) dotCase {
	switch {
	case len(line) == 0:
		return dotUndecided
	case line[0] != '.':
		return dotNone
	case len(line) > 1 && line[1] != '\r':
		return dotStuffed
	case len(line) < len(".\r\n"):
		return dotUndecided
	case line[2] == '\n':
		return dotEnd
	default:
		return dotStuffed
	}
}
