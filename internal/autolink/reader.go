package autolink

import (
	"net/netip"
	"strings"
	"unicode/utf8"
)

// reader reads an address that is in no angle brackets.
type reader struct {
	text     string
	start    int  // of the scheme
	pos      int  // what is before has been read
	unspaced bool // the host has letters of a script without spaces, so the rest may have some
}

// at returns the octet at i, or a space at the ends of the text.
func (r *reader) at(i int) byte {
	if i < 0 || i >= len(r.text) {
		return ' '
	}
	return r.text[i]
}

// authority reads userinfo, host and port (RFC 3986 §3.2). It returns false if there is no host.
func (r *reader) authority() bool {
	r.userinfo()
	if r.at(r.pos) == '[' {
		if !r.literal() {
			return false
		}
	} else if !r.host() {
		return false
	}
	r.port()
	return true
}

// maxUserinfo bounds what is searched for the @ behind a userinfo.
const maxUserinfo = 256

// userinfo reads a userinfo and its @, if there is one.
func (r *reader) userinfo() {
	for i := r.pos; i < len(r.text) && i < r.pos+maxUserinfo; i++ {
		switch c := r.text[i]; {
		case c == '@':
			r.pos = i + 1
		case !isAlnum(c) && strings.IndexByte("-._~%!$&'()*+,;=:", c) < 0:
			return
		}
	}
}

// literal reads an IP address in square brackets.
func (r *reader) literal() bool {
	end := strings.IndexByte(r.text[r.pos:min(len(r.text), r.pos+64)], ']')
	if end < 0 {
		return false
	}
	address, zone, _ := strings.Cut(r.text[r.pos+1:r.pos+end], "%25") // RFC 6874
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is6() || ip.Zone() != "" || strings.ContainsFunc(zone, func(c rune) bool { return c >= utf8.RuneSelf || !isAlnum(byte(c)) }) {
		return false
	}
	r.pos += end + 1
	return true
}

// host reads a name or an IPv4 address. A name may have letters of every script.
func (r *reader) host() bool {
	begin, i, dots := r.pos, r.pos, 0
	for i < len(r.text) {
		c := r.text[i]
		switch {
		case isAlnum(c), c == '-', c == '_':
			i++
		case c == '%' && isHex(r.at(i+1)) && isHex(r.at(i+2)):
			i += 3
		case c == '.' && i > begin && r.labelFollows(i+1, dots):
			i, dots = i+1, dots+1
		default:
			n := r.internationalLength(i, begin, dots)
			if n == 0 {
				return r.endHost(begin, i)
			}
			i += n
		}
	}
	return r.endHost(begin, i)
}

// labelFollows reports whether a label of a name begins at i, after so many dots before. What follows a name that is complete and
// in ASCII, "acme.example.", is a sentence if it is in a script without spaces.
func (r *reader) labelFollows(i, dots int) bool {
	c, _ := utf8.DecodeRuneInString(r.text[min(i, len(r.text)):])
	switch {
	case c < utf8.RuneSelf:
		return isAlnum(r.at(i)) || c == '_' || c == '%' || c == '/' || c == ':' // the last two end the name of the root
	case isUnspaced(c):
		return isWord(c) && c < 0xff00 && (dots == 0 || r.unspaced)
	}
	return isWord(c)
}

// internationalLength returns the length of the character at i, if it is beyond ASCII and belongs to the name that began at begin
// and has so many dots. Letters of a script without spaces do not belong to a name that is complete without them.
func (r *reader) internationalLength(i, begin, dots int) int {
	c, n := utf8.DecodeRuneInString(r.text[i:])
	switch {
	case c < utf8.RuneSelf:
		return 0
	case isInvisible(c):
		return n
	case !isWord(c), c >= 0xff00:
		return 0
	case !isUnspaced(c):
		return n
	case !r.unspaced && i > begin && dots > 0 && r.at(i-1) != '.' && !r.goesOn(i):
		return 0
	}
	r.unspaced = true
	return n
}

// maxLabel bounds how far a label is read ahead, in octets.
const maxLabel = 63

// goesOn reports whether the letters at i are within a label that another label in ASCII follows.
func (r *reader) goesOn(i int) bool {
	for end := i + maxLabel; i < len(r.text) && i < end; {
		c, n := utf8.DecodeRuneInString(r.text[i:])
		if c == '.' {
			return isLetter(r.at(i+1)) && isLetter(r.at(i+2))
		}
		if c < utf8.RuneSelf && !isAlnum(byte(c)) && c != '-' || c >= utf8.RuneSelf && !isWord(c) {
			return false
		}
		i += n
	}
	return false
}

// endHost ends the host at end, without punctuation that is not followed by more of the address.
func (r *reader) endHost(begin, end int) bool {
	r.pos = end
	if r.port(); r.pos == end && strings.IndexByte("/?#", r.at(end)) < 0 {
		end = begin + len(strings.TrimRight(r.text[begin:end], "-._"))
	}
	r.pos = end
	return strings.ContainsFunc(r.text[begin:end], func(c rune) bool {
		return c < utf8.RuneSelf && isAlnum(byte(c)) || c >= utf8.RuneSelf && isWord(c) && !isInvisible(c)
	})
}

// port reads a colon and the number of a port.
func (r *reader) port() {
	if r.at(r.pos) != ':' {
		return
	}
	i := r.pos + 1
	for i < len(r.text) && '0' <= r.text[i] && r.text[i] <= '9' {
		i++
	}
	if n := i - r.pos - 1; n > 5 || n == 0 && r.at(i) != '/' || isLetter(r.at(i)) {
		return
	}
	r.pos = i
}

// rest reads path, query and fragment, up to what cannot be part of an address.
func (r *reader) rest() {
	if r.pos >= len(r.text) || strings.IndexByte("/?#", r.text[r.pos]) < 0 {
		return
	}
	var depth [3]int // of each kind of brackets
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		switch {
		case c >= utf8.RuneSelf:
			n := r.beyondASCII()
			if n == 0 {
				return
			}
			r.pos += n
			continue
		case c <= ' ', c == 0x7f, strings.IndexByte("<>\"`\\|", c) >= 0, c == '\'' && r.at(r.start-1) == '\'':
			return
		case c == '&' && endsAddress(r.text[r.pos:]), (c == ',' || c == ';') && startsAddress(r.text[r.pos+1:]):
			return
		}
		if k := strings.IndexByte("([{", c); k >= 0 {
			depth[k]++
		}
		if k := strings.IndexByte(")]}", c); k >= 0 {
			if depth[k] == 0 && r.at(r.start-1) == "([{"[k] {
				return // the bracket that was opened in front of the address
			}
			depth[k]--
		}
		r.pos++
	}
}

// beyondASCII returns the length of the character at pos if it is part of the address, else 0.
func (r *reader) beyondASCII() int {
	c, n := utf8.DecodeRuneInString(r.text[r.pos:])
	switch {
	case isInvisible(c), isWord(c) && !isUnspaced(c), isWord(c) && c < 0xff00 && (r.unspaced || r.isEnclosed()):
		return n
	}
	return 0
}

// maxEnclosed bounds how far isEnclosed looks, in octets.
const maxEnclosed = 96

// isEnclosed reports whether the letters at pos, of a script without spaces, stand between two delimiters of an address and have more of it
// behind them, as in "/确认?token=x".
func (r *reader) isEnclosed() bool {
	if strings.IndexByte("/=-_?&%+#.", r.at(r.pos-1)) < 0 && r.at(r.pos-1) < utf8.RuneSelf {
		return false
	}
	for i := r.pos; i < len(r.text) && i < r.pos+maxEnclosed; {
		c, n := utf8.DecodeRuneInString(r.text[i:])
		if c < utf8.RuneSelf {
			return strings.IndexByte("/?&=#", r.text[i]) >= 0 && isAlnum(r.at(i+1))
		}
		if !isWord(c) {
			return false
		}
		i += n
	}
	return false
}

// startsAddress reports whether another address begins s.
func startsAddress(s string) bool {
	scheme, _, ok := strings.Cut(s[:min(len(s), len("https://"))], "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// endsAddress reports whether s begins with a character reference for what no address contains. Such a reference is left over
// where HTML was turned into text.
func endsAddress(s string) bool {
	s = strings.ToLower(s[:min(len(s), len("&quot;"))])
	for _, reference := range [...]string{"&lt;", "&gt;", "&quot;", "&nbsp;", "&#34;", "&#39;", "&#60;", "&#62;", "&#160;", "&#x22;", "&#x27;", "&#x3c;", "&#x3e;", "&#xa0;"} {
		if strings.HasPrefix(s, reference) {
			return true
		}
	}
	return false
}

// trim returns where the address ends once the punctuation of the sentence around it is left out. It is not before least.
func (r *reader) trim(least int) int {
	end := r.pos
	open := r.open(end)
	marks := r.marksBefore()
	for end > least {
		c, n := utf8.DecodeLastRuneInString(r.text[least:end])
		k := strings.IndexRune(")]}", c)
		switch {
		case isInvisible(c), strings.ContainsRune(`.,:!?'"*([{`, c):
			if i := strings.IndexRune("([{", c); i >= 0 {
				open[i]--
			}
		case c == ';':
			n = referenceLength(r.text[least:end])
		case k >= 0 && open[k] < 0:
			open[k]++
		case marks != "" && c == rune(marks[len(marks)-1]):
			marks = marks[:len(marks)-1]
		default:
			return end
		}
		end -= n
	}
	return end
}

// open counts the brackets of each kind that the address opens, less those that it closes.
func (r *reader) open(end int) (n [3]int) {
	for i := r.start; i < end; i++ {
		if k := strings.IndexByte("([{", r.text[i]); k >= 0 {
			n[k]++
		} else if k := strings.IndexByte(")]}", r.text[i]); k >= 0 {
			n[k]--
		}
	}
	return n
}

// marksBefore returns the marks of emphasis in front of the address, "_" and "~": as many at its end belong to them and not to it.
func (r *reader) marksBefore() string {
	before := r.text[max(0, r.start-3):r.start]
	return before[len(strings.TrimRight(before, "_~")):]
}

// referenceLength returns the length of the character reference that s ends with, or 1 for another semicolon.
func referenceLength(s string) int {
	i := len(s) - 1
	for i > 0 && (isAlnum(s[i-1]) || s[i-1] == '#') && len(s)-i < 32 {
		i--
	}
	if i > 0 && s[i-1] == '&' && i < len(s)-1 {
		return len(s) - i + 1
	}
	return 1
}
