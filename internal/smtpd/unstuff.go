package smtpd

import "bytes"

// unstuffer extracts a message from what follows DATA (RFC 5321 §4.1.1.4, §4.5.2). It finds the end, which is CRLF.CRLF and nothing
// else, and removes the dot that the client inserted before every line that begins with one. It works in place, with bytes.IndexByte
// and bytes.Count over whole blocks, and its result does not depend on how reads split the octets.
//
// Where bareLF is true, a message of which the first line ends in a bare LF has lines that end in either, also the last one with the dot.
// In a message that begins with CRLF a bare LF never ends a line here, so that LF.LF in a text does not end the message.
type unstuffer struct {
	bareLF bool  // the client may end lines with LF (Config.BareLF)
	limit  int64 // octets; the content of a larger message is counted but not kept
	size   int64 // octets of the message so far
	inLine bool  // not at the beginning of a line
	cr     bool  // the octet before the block is a CR
	ends   lineEnds
}

// endsInLF reports whether a bare LF ends a line.
func (u *unstuffer) endsInLF() bool { return u.bareLF && !u.ends.beganWithCRLF }

// lineEnds checks that all lines of a text end in CRLF, and that it has no NUL. Other servers may treat a bare CR or LF as
// the end of a line, and attackers use that to smuggle a second message. It looks at the octet before each LF. A bare CR
// is detected because there are then more CRs than CRLFs; counting is faster than looking at each CR.
type lineEnds struct {
	cr, crlf      int64
	bareLF        int64
	nul           bool
	beganWithCRLF bool // the first line ends in CRLF
}

// malformed reports whether the text contains a NUL, a bare CR or, unless the client may end lines with it, a bare LF.
func (e *lineEnds) malformed(bareLF bool) bool {
	return e.nul || e.bareLF > 0 && !bareLF || e.cr != e.crlf
}

// count counts the CRs in a piece of the text, and looks for NULs.
func (e *lineEnds) count(p []byte) {
	e.cr += int64(bytes.Count(p, []byte{'\r'}))
	e.nul = e.nul || bytes.IndexByte(p, 0) >= 0
}

// checkLF records an LF.
func (e *lineEnds) checkLF(afterCR bool) {
	if !afterCR {
		e.bareLF++
		return
	}
	e.beganWithCRLF = e.beganWithCRLF || e.crlf == 0 && e.bareLF == 0
	e.crlf++
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
			switch c := classifyDot(p[at:], u.endsInLF()); c {
			case dotUndecided:
				return u.keep(p, kept, from, at), p[at:], false
			case dotEnd, dotEndLF:
				end := len(".\r\n")
				if c == dotEndLF {
					end = len(".\n")
				}
				return u.keep(p, kept, from, at), p[at+end:], true
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
		u.ends.checkLF(afterCR)
		u.inLine = !afterCR && !u.endsInLF()
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
	dotEndLF                    // it is the end of the message, without a CR
	dotUndecided                // more octets are needed
)

// classifyDot returns what the beginning of a line is. bareLF says that a bare LF ends a line.
func classifyDot(line []byte, bareLF bool) dotCase {
	switch {
	case len(line) == 0:
		return dotUndecided
	case line[0] != '.':
		return dotNone
	case bareLF && len(line) > 1 && line[1] == '\n':
		return dotEndLF
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
