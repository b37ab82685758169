package mailpit

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strings"
	"time"
)

// compose encodes a message (RFC 5322, RFC 2045), which is sent at the time at. The text and the HTML are alternatives,
// inline files are related to the HTML, and the other files are attachments. All bodies are base64, so that no line of the
// content can be too long or look like a boundary.
func (o *outgoing) compose(at time.Time, hostname string) []byte {
	var b bytes.Buffer
	b.Grow(o.length())
	for _, f := range o.headerFields(at, hostname) {
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
	root := o.root()
	root.write(&b)
	return b.Bytes()
}

// length returns about how many octets compose returns, so that its buffer need not grow.
func (o *outgoing) length() int {
	const header, partHeader = 4 << 10, 300
	n := len(o.Text) + len(o.HTML)
	for _, f := range o.Attachments {
		n += len(f.Content)/4*3 + partHeader
	}
	for name, value := range o.Headers {
		n += len(name) + len(value) + len(": \r\n")
	}
	return header + n/lineOctets*(base64.StdEncoding.EncodedLen(lineOctets)+len("\r\n")) + n%lineOctets*2
}

// part is a node of the MIME tree: a multipart entity with parts, or a leaf with content.
type part struct {
	header  textproto.MIMEHeader
	content io.Reader
	parts   []part // nil: it is a leaf
}

// root returns the MIME tree of the message. A multipart entity that would have a single part is replaced by that part.
// Without HTML, inline files become attachments, since there is nothing that could refer to them.
func (o *outgoing) root() part {
	var alternatives, inline, files []part
	for _, f := range o.Attachments {
		if f.ContentID != "" {
			inline = append(inline, f.toPart("inline"))
		} else {
			files = append(files, f.toPart("attachment"))
		}
	}
	if o.Text != "" || o.HTML == "" {
		alternatives = append(alternatives, newLeaf("text/plain; charset=utf-8", strings.NewReader(o.Text)))
	}
	if o.HTML != "" {
		html := newLeaf("text/html; charset=utf-8", strings.NewReader(o.HTML))
		alternatives = append(alternatives, newMultipart("multipart/related", append([]part{html}, inline...)))
	} else {
		files = append(inline, files...)
	}
	return newMultipart("multipart/mixed", append([]part{newMultipart("multipart/alternative", alternatives)}, files...))
}

// newMultipart returns a multipart entity with the given parts, or the only part.
func newMultipart(contentType string, parts []part) part {
	if len(parts) == 1 {
		return parts[0]
	}
	return part{header: textproto.MIMEHeader{"Content-Type": {contentType}}, parts: parts}
}

// newLeaf returns a part with content, which write encodes as base64.
func newLeaf(contentType string, content io.Reader) part {
	return part{header: textproto.MIMEHeader{"Content-Type": {contentType}, "Content-Transfer-Encoding": {"base64"}}, content: content}
}

// toPart returns the file as a part. A content type that is invalid, or that is a multipart, is replaced by
// application/octet-stream.
func (f outgoingFile) toPart(disposition string) part {
	media, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil || !strings.Contains(media, "/") || strings.HasPrefix(media, "multipart/") {
		media = "application/octet-stream"
	}
	p := newLeaf(media, f.decoder()) // validate has checked that it is base64
	p.header.Set("Content-Disposition", disposition)
	if f.Filename != "" {
		p.header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": f.Filename}))
	}
	if f.ContentID != "" {
		p.header.Set("Content-Id", "<"+strings.Trim(f.ContentID, "<> ")+">")
	}
	return p
}

// write writes the header fields of a part, an empty line and its content. The order of the fields is random, which RFC 2045
// allows.
func (p part) write(b *bytes.Buffer) {
	var w *multipart.Writer
	if p.parts != nil {
		w = multipart.NewWriter(b)
		p.header.Set("Content-Type", p.header.Get("Content-Type")+"; boundary="+w.Boundary())
	}
	for name, values := range p.header {
		b.WriteString(name + ": " + values[0] + "\r\n")
	}
	b.WriteString("\r\n")
	if w == nil {
		writeBase64(b, p.content)
		return
	}
	for _, child := range p.parts {
		b.WriteString("--" + w.Boundary() + "\r\n")
		child.write(b)
		b.WriteString("\r\n")
	}
	b.WriteString("--" + w.Boundary() + "--\r\n")
}

// lineOctets is how many octets of content become a line of 76 characters in base64.
const lineOctets = 57

// writeBase64 writes content as base64, in lines of at most 76 characters (RFC 2045 §6.8).
func writeBase64(b *bytes.Buffer, content io.Reader) {
	line := make([]byte, lineOctets)
	for {
		n, err := io.ReadFull(content, line)
		if n > 0 {
			b.Write(append(base64.StdEncoding.AppendEncode(b.AvailableBuffer(), line[:n]), '\r', '\n'))
		}
		if err != nil {
			return
		}
	}
}

// formatAddresses returns the value of a header field that lists addresses. Names are encoded (RFC 2047). Each address is on
// a line of its own, so that lines stay short.
func formatAddresses(all []mailAddress) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = (&mail.Address{Name: p.Name, Address: p.Email}).String()
	}
	return strings.Join(texts, ",\r\n ")
}

// encodeHeader returns the value of a header field for a text. Text that is not ASCII becomes encoded words (RFC 2047), each
// on a line of its own, so that lines stay close to the 76 characters of §2.
func encodeHeader(text string) string {
	return strings.ReplaceAll(mime.QEncoding.Encode("utf-8", text), "?= =?", "?=\r\n =?")
}
