package mailparse

import (
	"strings"
)

// entity is a message or a body part with what its header says about its body (RFC 2045 §2.4).
type entity struct {
	media       string // type/subtype in lower case; "" when absent or unreadable
	params      params // of the Content-Type
	disposition string // lower case
	file        params // of the Content-Disposition
	encoding    string // lower case; "" if absent
	id          string // the Content-ID without brackets
	body        []byte // still in its transfer encoding; aliases the mail

	parent *entity // the multipart around a part; nil of a message
	number int     // of a part in its multipart, from 1
	next   *entity // in bodies

	few [2]param // the memory of params, which most fields have no more of
}

// describe stores a Content- field of the header; others are ignored. Of two fields with one name the first counts.
func (e *entity) describe(name, value string) {
	if len(name) < len("Content-ID") || name[7] != '-' || !strings.EqualFold(name[:7], "Content") {
		return
	}
	switch {
	case strings.EqualFold(name, "Content-Type"):
		if e.media == "" {
			e.media, e.params = parseParams(value, e.few[:0])
			e.media = printable(mediaType(e.media))
		}
	case strings.EqualFold(name, "Content-Disposition"):
		if e.disposition == "" {
			e.disposition, e.file = parseParams(value, nil)
		}
	case strings.EqualFold(name, "Content-Transfer-Encoding"):
		if e.encoding == "" {
			e.encoding = transferEncoding(value)
		}
	case strings.EqualFold(name, "Content-ID"):
		if e.id == "" {
			e.id = contentID(value)
		}
	}
}

// mediaType corrects what old and careless senders write; a text without a slash is no media type (RFC 2045 §5.2).
func mediaType(s string) string {
	switch {
	case s == "text":
		return "text/plain"
	case s == "html":
		return "text/html"
	case strings.IndexByte(s, '/') < 1:
		return ""
	}
	return s
}

// bodyPart reads a part of a multipart. Only its Content- fields matter. Blank or stray lines in front of the header are
// skipped only for such a field: any other that follows them is text, such as the first line of a forwarded mail.
func bodyPart(raw []byte) *entity {
	var fixed [8]span
	spans, body := splitHeader(raw, fixed[:0], contentField)
	e := &entity{body: body}
	e.describeAll(raw, spans)
	return e
}

// describeAll stores the Content- fields of a header.
func (e *entity) describeAll(block []byte, fields []span) {
	var kept [8]span
	own, size := kept[:0], 0
	for _, f := range fields {
		if hasFoldPrefix(block[f.start:f.colon], "content-") {
			own = append(own, f)
			size += f.end - f.colon
		}
	}
	var b strings.Builder
	b.Grow(size) // one allocation for all of them
	for _, f := range own {
		start := b.Len()
		appendUnfolded(&b, block[f.colon+1:f.end])
		e.describe(string(trimSpaceRight(block[f.start:f.colon])), b.String()[start:])
	}
}

// filename returns the name that the sender gave the part, "" if none. charset is for raw 8-bit names.
func (e *entity) filename(charset string) string {
	if name := e.file.text("filename", charset); name != "" {
		return name
	}
	if name := e.file.text("name", charset); name != "" { // seen from some senders
		return name
	}
	return e.params.text("name", charset)
}
