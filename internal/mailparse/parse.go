package mailparse

import (
	"strings"
)

// parser builds one Message. It is used for one mail.
type parser struct {
	message *Message
	charset string  // of the body, for raw 8-bit text in the header
	parts   int     // MIME parts parsed so far, of all nested messages; at most MaxParts
	budget  int     // bytes that may still be decoded
	seen    [2]bool // whether there is a text (kindText) and an HTML body (kindHTML) already
	room    []byte  // the unused part of ParseIn's buffer
}

// parse reads a message at the given nesting depth into p.message.
func (p *parser) parse(raw []byte, depth int) {
	var fixed [48]span
	spans, body := splitHeader(raw, fixed[:0], wellKnownField)
	values := rawFields(raw, spans)

	root := entity{body: body}
	for _, f := range values {
		root.describe(f.Name, f.Value)
	}
	p.charset = root.params.token("charset")
	p.envelope(values)
	for i := range values { // names need no decoding: fieldColon takes only printable ASCII for one
		values[i].Value = decodeHeader(values[i].Value, p.charset)
	}
	p.message.Header = values
	p.message.Subject = strings.TrimSpace(p.message.Value("Subject"))

	b := p.entity(&root, depth)
	p.message.Text = joinText(p, b.text)
	p.message.HTML = joinText(p, b.html)
	p.openMessage(depth)
}

// openMessage adds the text, the HTML and the attachments of a message that is all the mail consists of, as one
// forwarded as an attachment with nothing added is. It stays an attachment, too.
func (p *parser) openMessage(depth int) {
	m := p.message
	if depth >= MaxOpened || len(m.Attachments) != 1 || m.Attachments[0].ContentType != "message/rfc822" ||
		strings.TrimSpace(m.Text) != "" || strings.TrimSpace(m.HTML) != "" {
		return
	}
	inner := parser{message: new(Message), parts: p.parts, budget: p.budget, room: p.room}
	inner.parse(unifyLineEnds(m.Attachments[0].Data), depth+1)
	p.parts, p.budget, p.room = inner.parts, inner.budget, inner.room
	m.Text, m.HTML = inner.message.Text, inner.message.HTML
	for _, a := range inner.message.Attachments {
		a.Part = m.Attachments[0].Part + "." + a.Part
		m.Attachments = append(m.Attachments, a)
	}
}

// rawFields returns the fields with their values unfolded but not decoded. All strings share one allocation.
func rawFields(block []byte, spans []span) []Field {
	if len(spans) == 0 {
		return nil
	}
	size := 0
	for _, s := range spans {
		size += s.end - s.start
	}
	var b strings.Builder
	b.Grow(size)
	fields := make([]Field, len(spans))
	for i, s := range spans {
		start := b.Len()
		b.Write(trimSpaceRight(block[s.start:s.colon]))
		colon := b.Len()
		appendUnfolded(&b, block[s.colon+1:s.end])
		all := b.String() // the builder never grows again, so this aliases its one buffer
		fields[i] = Field{Name: all[start:colon], Value: all[colon:]}
	}
	return fields
}

// envelope parses the fields with a structure of their own from their raw values: in a mailbox the encoded words must
// be decoded last, since they may contain commas and quotes.
func (p *parser) envelope(fields []Field) {
	m := p.message
	var scratch [256]byte
	l := addressLexer{charset: p.charset, phrase: scratch[:0:128], angle: scratch[128:128:256]}
	var from, sender *Field
	froms := 0
	for i := range fields {
		f := &fields[i]
		switch len(f.Name) {
		case len("To"), len("From"), len("Sender"), len("Reply-To"), len("Message-ID"):
		default:
			continue
		}
		switch {
		case strings.EqualFold(f.Name, "From"):
			from = first(from, f)
			froms++
		case strings.EqualFold(f.Name, "Sender"):
			sender = first(sender, f)
		case strings.EqualFold(f.Name, "To"):
			m.To = l.addresses(m.To, f.Value)
		case strings.EqualFold(f.Name, "Cc"):
			m.Cc = l.addresses(m.Cc, f.Value)
		case strings.EqualFold(f.Name, "Reply-To"):
			m.ReplyTo = l.addresses(m.ReplyTo, f.Value)
		case strings.EqualFold(f.Name, "Message-ID") && m.MessageID == "":
			m.MessageID = messageID(f.Value)
		case strings.EqualFold(f.Name, "Date") && m.Date.IsZero():
			m.Date = parseDate(f.Value)
		}
	}
	for _, f := range []*Field{from, sender} {
		if f == nil || m.From != (Address{}) {
			continue
		}
		var few [2]Address
		list := l.addresses(few[:0], f.Value)
		if len(list) > 0 {
			m.From = list[0]
		}
		if f == from && froms == 1 && len(list) == 1 && !l.several && isAddrSpec(m.From.Addr) {
			m.Author = m.From.Addr
		}
	}
}

// first returns a unless it is nil: of repeated fields the first counts.
func first(a, b *Field) *Field {
	if a != nil {
		return a
	}
	return b
}

// contentID returns the text between the angle brackets of a Content-ID, or all of it. Some senders write the name of a file there, whose
// spaces belong to it.
func contentID(value string) string {
	if _, rest, ok := strings.Cut(value, "<"); ok {
		value, _, _ = strings.Cut(rest, ">")
	}
	return printable(strings.Join(strings.Fields(value), " "))
}

// messageID returns the text between the angle brackets of a Message-ID, or its first word.
func messageID(value string) string {
	if _, rest, ok := strings.Cut(value, "<"); ok {
		value, _, _ = strings.Cut(rest, ">")
	}
	value = strings.TrimSpace(value)
	if i := strings.IndexAny(value, " \t"); i >= 0 {
		value = value[:i]
	}
	return printable(value)
}
