package mailparse

import (
	"bytes"
	"strings"

	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/truncate"
)

// joinText decodes bodies and joins them, each beginning on a line of its own.
func joinText(p *parser, parts entities) string {
	switch parts.first {
	case nil:
		return ""
	case parts.last:
		return p.text(parts.first, MaxText)
	}
	var b strings.Builder
	for e := parts.first; e != nil; e = e.next {
		s := p.text(e, MaxText-b.Len())
		if n := b.Len(); n > 0 && s != "" && b.String()[n-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	return truncate.Octets(b.String(), MaxText)
}

// text decodes a body to UTF-8 with LF line ends, limit bytes at most, and undoes format=flowed.
func (p *parser) text(e *entity, limit int) string {
	if limit <= 0 {
		return ""
	}
	data := e.body
	if isEncoded(e.encoding) {
		scratch := buffer.Get(len(e.body)) // decoding makes a body shorter
		defer buffer.Put(scratch)          // the text is a copy
		data = p.decodeInto(*scratch, e)
	}
	label := e.params.token("charset")
	if label == "" && e.media == "text/html" {
		label = metaCharset(data)
	}
	s := lfLines(toUTF8(data, label, limit))
	if e.media == "text/plain" && strings.EqualFold(e.params.token("format"), "flowed") {
		s = unflow(s, strings.EqualFold(e.params.token("delsp"), "yes"))
	}
	return s
}

// lfLines replaces every line end by LF: CRLF, CR alone, and CR CR LF, which text gateways make.
func lfLines(data []byte) string {
	i := bytes.IndexByte(data, '\r')
	if i < 0 {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data))
	for i >= 0 {
		b.Write(data[:i])
		data = data[i:]
		crs := 1
		for crs < len(data) && data[crs] == '\r' {
			crs++
		}
		if crs == len(data) || data[crs] != '\n' {
			for range crs {
				b.WriteByte('\n')
			}
		}
		data = data[crs:]
		i = bytes.IndexByte(data, '\r')
	}
	b.Write(data)
	return b.String()
}

// unflow joins the lines that format=flowed broke (RFC 3676 §4): those that end in a space, which delSp
// says to delete. Lines of different quote depth are never joined, and "-- " is a line of its own.
func unflow(s string, delSp bool) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/16)
	open, depth := false, 0
	for s != "" && b.Len() < MaxText {
		line, rest, lf := strings.Cut(s, "\n")
		s = rest
		text := strings.TrimLeft(line, ">")
		quotes := len(line) - len(text)
		text = strings.TrimPrefix(text, " ") // space-stuffing, §4.4
		signature := text == "-- "
		if open && (quotes != depth || signature) {
			b.WriteByte('\n')
			open = false
		}
		if !open && quotes > 0 {
			b.WriteString(line[:quotes])
			b.WriteByte(' ')
		}
		depth = quotes
		open = !signature && strings.HasSuffix(text, " ")
		if open && delSp {
			text = text[:len(text)-1]
		}
		b.WriteString(text)
		if lf && !open {
			b.WriteByte('\n')
		}
	}
	return truncate.Octets(b.String(), MaxText)
}

// metaCharset returns the charset that an HTML document names for itself within its first kilobyte; "" if none. UTF-16
// cannot be true of text in which the name was found by its ASCII letters.
func metaCharset(data []byte) string {
	head := strings.ToLower(string(data[:min(len(data), 1024)]))
	for {
		_, tag, ok := strings.Cut(head, "<meta")
		if !ok {
			return ""
		}
		head = tag
		tag, _, _ = strings.Cut(tag, ">")
		_, value, ok := strings.Cut(tag, "charset")
		if !ok {
			continue
		}
		value, ok = strings.CutPrefix(strings.TrimLeft(value, " \t\r\n"), "=")
		if !ok {
			continue
		}
		value = strings.TrimLeft(value, " \t\r\n\"'")
		if i := strings.IndexAny(value, " \t\r\n\"';/>"); i >= 0 {
			value = value[:i]
		}
		if strings.HasPrefix(plainLabel(value), "utf16") {
			return ""
		}
		return value
	}
}
