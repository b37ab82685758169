package smtpd

import "net/netip"

// Unstuff passes the octets to an unstuffer in reads of the given sizes, the last of which is used for the rest. It returns the message (nil
// if it is too large), what followed its end, and the findings of the unstuffer.
func Unstuff(wire []byte, bareLF bool, limit int64, sizes []byte) (message, rest []byte, found Unstuffed) {
	u := unstuffer{limit: limit, bareLF: bareLF}
	var p []byte
	kept := 0
	for i := 0; ; i++ {
		n, left, done := u.scan(p, kept)
		if done {
			return p[:n], append(append([]byte{}, left...), wire...),
				Unstuffed{Ended: true, Malformed: u.ends.malformed(bareLF), TooLarge: u.tooLarge(), Size: u.size}
		}
		kept = n
		p = append(p[:kept], left...)
		if len(wire) == 0 {
			return nil, nil, Unstuffed{}
		}
		read := len(wire)
		if len(sizes) > 0 {
			read = min(read, int(sizes[min(i, len(sizes)-1)])+1)
		}
		p = append(p, wire[:read]...)
		wire = wire[read:]
	}
}

// Unstuffed are the findings of an unstuffer.
type Unstuffed struct {
	Ended, Malformed, TooLarge bool
	Size                       int64
}

// ParsePath reads a path and returns its mailbox as text.
func ParsePath(p []byte) (mailbox string, rest []byte, utf8, ok bool) {
	a, rest, ok := parsePath(p)
	if !ok || (!a.isNull() && !a.isComplete() && !a.isPostmaster()) {
		return "", nil, false, false
	}
	return a.String(), rest, a.utf8, true
}

// ParseXClient reads the attributes of XCLIENT and returns the address, the zero Addr if none is given, and the name.
func ParseXClient(p []byte) (addr netip.Addr, helo string, ok bool) {
	a, ok := parseClientAttributes(p, xclientAttributes)
	return a.addr, a.helo, ok
}
