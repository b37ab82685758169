package mailparse

import "bytes"

// span is the position of one header field in a block: its name is block[start:colon], its value, folds included,
// block[colon+1:end].
type span struct{ start, colon, end int }

// splitHeader finds the fields at the front of block and the body after them. It appends to spans. first reports
// whether a line is a field that the block's header may begin with.
//
// A line that is no field is a stray line, and skipped with its folds, as long as a well-known field stands between it
// and the blank line that ends the header. Otherwise it ends the header, as if the blank line had been forgotten.
func splitHeader(block []byte, spans []span, first func(line []byte) bool) ([]span, []byte) {
	h := headerScan{spans: spans}
	s := strayScan{known: first, last: unscanned}
	for pos := headerStart(block, first); pos < len(block); {
		line, next := lineAt(block, pos)
		switch {
		case len(line) == 0:
			return h.spans, block[next:]
		case isBlank(line[0]):
			h = h.fold(pos, len(line))
		default:
			colon := fieldColon(line)
			switch {
			case colon >= 0 && !s.inside:
				s = strayScan{known: wellKnownField, last: unscanned, inside: true}
			case colon < 0 && s.last == unscanned:
				s.last = lastField(block, next, s.known)
			}
			if colon < 0 && pos >= s.last && !fieldFollows(block, next, s.known) {
				return h.spans, block[pos:]
			}
			h = h.field(pos, colon, len(line))
		}
		pos = next
	}
	return h.spans, nil
}

// strayScan distinguishes stray lines within a header from the beginning of a body without a blank line before it. It looks
// ahead once before the first field and once after it, so the cost stays linear.
type strayScan struct {
	known  func(line []byte) bool // whether a line is a field that body text hardly contains
	last   int                    // where the last of them before the blank line begins, -1 if there is none
	inside bool                   // a field has been seen
}

const unscanned = -2

// lastField returns where the last known field between pos and the next blank line begins. It is -1 if there is none, or
// no blank line: without one the end of the header is unknown.
func lastField(block []byte, pos int, known func([]byte) bool) int {
	last := -1
	for pos < len(block) {
		line, next := lineAt(block, pos)
		if len(line) == 0 {
			return last
		}
		if known(line) {
			last = pos
		}
		pos = next
	}
	return -1
}

// headerScan collects fields as far as the limits allow. It is passed by value, so that the spans of most headers stay
// on the stack.
type headerScan struct {
	spans []span
	size  int  // octets of the fields that were kept
	open  bool // the last line belongs to a field that was kept, so a fold may go on with it
}

// field adds the line of n bytes at pos as a field; colon is -1 if it is none. Fields beyond the limits are not kept.
func (h headerScan) field(pos, colon, n int) headerScan {
	h.open = colon >= 0 && len(h.spans) < MaxFields && h.size+colon+1 < MaxHeader
	if h.open {
		n = min(n, MaxHeader-h.size)
		h.spans = append(h.spans, span{start: pos, colon: pos + colon, end: pos + n})
		h.size += n
	}
	return h
}

// fold adds the line of n bytes at pos to the field before it.
func (h headerScan) fold(pos, n int) headerScan {
	if !h.open {
		return h
	}
	last := &h.spans[len(h.spans)-1]
	end := pos + min(n, MaxHeader-h.size)
	h.size += end - last.end
	last.end = end
	h.open = h.size < MaxHeader
	return h
}

// headerStart returns where the first field begins, after a byte order mark, blank lines that a field follows, and the
// "From " line of an mbox file.
func headerStart(block []byte, first func(line []byte) bool) int {
	pos := 0
	if bytes.HasPrefix(block, []byte(byteOrderMark)) {
		pos = len(byteOrderMark)
	}
	text := pos
	for text < len(block) && (block[text] == '\r' || block[text] == '\n') {
		text++
	}
	line, next := lineAt(block, text)
	if text > pos && !first(line) {
		return pos
	}
	mbox := bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(">From "))
	if mbox && fieldColon(line) < 0 {
		return next
	}
	return text
}

// lineAt returns the line that begins at pos, without its line end, and where the next one begins.
func lineAt(block []byte, pos int) (line []byte, next int) {
	next = len(block)
	line = block[pos:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line, next = line[:i], pos+i+1
	}
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, next
}

// fieldColon returns the index of the colon that ends the line's field name, or -1 if it is no field.
// White space before the colon is obsolete syntax (RFC 5322 §4.5) and still in use.
func fieldColon(line []byte) int {
	i := 0
	for i < len(line) && line[i] > ' ' && line[i] < 0x7f && line[i] != ':' {
		i++
	}
	name := i
	for i < len(line) && isBlank(line[i]) {
		i++
	}
	if name == 0 || name > maxName || i == len(line) || line[i] != ':' {
		return -1
	}
	if bytes.HasPrefix(line[i:], []byte("://")) { // a link in a body that no blank line announced
		return -1
	}
	return i
}

// fieldFollows reports whether the line at pos is a known field.
func fieldFollows(block []byte, pos int, known func([]byte) bool) bool {
	line, _ := lineAt(block, pos)
	return known(line)
}

// contentField reports whether the line is a field that describes a body part (RFC 2045 §3).
func contentField(line []byte) bool {
	return hasFoldPrefix(line, "content-") && fieldColon(line) >= 0
}

// wellKnownField reports whether the line is a field that hardly begins a line of ordinary text.
func wellKnownField(line []byte) bool {
	colon := fieldColon(line)
	if colon < 0 || colon > 32 {
		return false
	}
	var lower [32]byte
	name := lower[:copy(lower[:], bytes.TrimRight(line[:colon], " \t"))]
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			name[i] = c + 'a' - 'A'
		}
	}
	switch string(name) {
	case "from", "to", "cc", "bcc", "subject", "date", "sender", "reply-to", "message-id", "in-reply-to",
		"references", "received", "received-spf", "return-path", "delivered-to", "envelope-to", "mime-version",
		"dkim-signature", "authentication-results", "auto-submitted", "precedence", "importance", "priority",
		"user-agent", "feedback-id", "errors-to":
		return true
	}
	for _, prefix := range [...]string{"content-", "x-", "list-", "arc-", "resent-", "thread-"} {
		if bytes.HasPrefix(name, []byte(prefix)) {
			return true
		}
	}
	return false
}

// isBlank reports whether c is a space or a tab.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isSpace reports whether c is white space in a header, line ends included.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
