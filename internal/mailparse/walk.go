package mailparse

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// bodies are the parts of an entity that are the mail's own text and HTML, in order, not yet decoded.
type bodies struct{ text, html entities }

// entities is a list of entities, which are linked by their field next. An entity is in one list only.
type entities struct{ first, last *entity }

// add adds the entities of another list, which must not be used any more.
func (l *entities) add(more entities) {
	switch {
	case l.first == nil:
		*l = more
	case more.first != nil:
		l.last.next, l.last = more.first, more.last
	}
}

// entity sorts the parts of e into bodies, which it returns, and attachments, which it adds to the message. The body of a
// multipart without any part is text.
func (p *parser) entity(e *entity, depth int) bodies {
	p.parts++
	if !strings.HasPrefix(e.media, "multipart/") {
		return p.leaf(e)
	}
	if depth >= MaxDepth {
		p.attach(e)
		return bodies{}
	}
	if parts, ok := p.split(e); ok {
		return p.multipart(e, parts, depth)
	}
	e.body = withoutDelimiters(e.body, e.params.token("boundary"))
	if len(bytes.TrimSpace(e.body)) == 0 {
		return bodies{}
	}
	e.media = "text/plain" // no part at all: what is there is the text
	return p.leaf(e)
}

// split returns the parts of a multipart; false if there are none. A multipart whose boundary is missing or wrong is searched
// for one. The body of one that is encoded, which RFC 2045 §6.4 forbids and some send all the same, is decoded.
func (p *parser) split(e *entity) (partReader, bool) {
	boundary := e.params.token("boundary")
	if parts, ok := newPartReader(e.body, boundary); ok {
		return parts, true
	}
	if isEncoded(e.encoding) {
		e.body, e.encoding = p.decode(e), ""
		if parts, ok := newPartReader(e.body, boundary); ok {
			return parts, true
		}
	}
	return newPartReader(e.body, guessBoundary(e.body))
}

// partOf reads a part of a multipart.
func partOf(e *entity, raw []byte) *entity {
	part := bodyPart(raw)
	if part.media == "" && e.media == "multipart/digest" {
		part.media = "message/rfc822" // RFC 2046 §5.1.5
	}
	return part
}

// multipart reads the parts of e.
func (p *parser) multipart(e *entity, parts partReader, depth int) (all bodies) {
	alternative := e.media == "multipart/alternative"
	for number := 1; p.parts < MaxParts; number++ {
		raw, ok := parts.next()
		if !ok {
			break
		}
		part := partOf(e, raw)
		part.parent, part.number = e, number
		b := p.entity(part, depth+1)
		switch {
		case !alternative:
			all.text.add(b.text)
			all.html.add(b.html)
		default: // the first plain text and the last, richest, HTML (RFC 2046 §5.1.4)
			if all.text.first == nil {
				all.text = b.text
			}
			if b.html.first != nil {
				all.html = b.html
			}
		}
	}
	return all
}

const (
	kindNone = iota - 1
	kindText
	kindHTML
)

// kind returns which of the bodies a media type belongs to. Other text types, such as text/calendar, are attachments.
func kind(media string) int {
	switch media {
	case "", "text/plain", "text/enriched", "text/richtext", "text/markdown", "text/x-markdown", "text/x-plain":
		return kindText
	case "text/html":
		return kindHTML
	}
	return kindNone
}

// leaf makes e a body or an attachment. Text with a file name is an attachment unless it is the first of its kind:
// some senders name their only text.
func (p *parser) leaf(e *entity) bodies {
	k := kind(e.media)
	switch {
	case isAlternateRendering(e.media):
		return bodies{}
	case k == kindNone, e.disposition != "" && e.disposition != "inline",
		p.seen[k] && e.filename(p.charset) != "":
		p.attach(e)
		return bodies{}
	}
	p.seen[k] = true
	if k == kindHTML {
		return bodies{html: entities{e, e}}
	}
	return bodies{text: entities{e, e}}
}

// isAlternateRendering reports whether a type is a version of the mail for one kind of device, which is no document of
// its own.
func isAlternateRendering(media string) bool {
	return media == "text/x-amp-html" || media == "text/watch-html"
}

// position returns Attachment.Part of a part; "" of a message.
func (e *entity) position() string {
	if e.parent == nil {
		return ""
	}
	if outer := e.parent.position(); outer != "" {
		return outer + "." + strconv.Itoa(e.number)
	}
	return strconv.Itoa(e.number)
}

// attach keeps e as an attachment.
func (p *parser) attach(e *entity) {
	a := Attachment{
		ContentType: e.media,
		ContentID:   e.id,
		Inline:      e.disposition == "inline" || e.disposition == "" && e.id != "",
		Part:        cmp.Or(e.position(), "0"),
		Data:        p.decode(e),
	}
	if a.ContentType == "" {
		a.ContentType = "application/octet-stream"
	}
	a.Filename = attachmentName(e.filename(p.charset), a.ContentType)
	p.message.Attachments = append(p.message.Attachments, a)
}

// isEncoded reports whether a transfer encoding changes the octets.
func isEncoded(encoding string) bool {
	return encoding == "base64" || encoding == "quoted-printable"
}

// decode decodes the transfer encoding, up to the rest of MaxDecoded, in the lent buffer if there is enough of it.
func (p *parser) decode(e *entity) []byte {
	most := decodedMax(e.encoding, len(e.body))
	if !isEncoded(e.encoding) || most > len(p.room) {
		return p.decodeInto(nil, e)
	}
	data := p.decodeInto(p.room[:0:most], e)
	p.room = p.room[len(data):]
	return slices.Clip(data)
}

// decodeInto is decode into dst, which grows if necessary. Content without an encoding is returned as it is, aliasing
// the mail.
func (p *parser) decodeInto(dst []byte, e *entity) []byte {
	if !isEncoded(e.encoding) {
		return e.body
	}
	src := e.body
	var data []byte
	if e.encoding == "base64" {
		data = decodeBase64(dst, src[:min(len(src), 2*p.budget)])
	} else {
		data = decodeQuotedPrintable(dst, src[:min(len(src), 3*p.budget)])
	}
	data = data[:min(len(data), p.budget)]
	p.budget -= len(data)
	return data
}
