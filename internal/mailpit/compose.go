package mailpit

import (
	"bytes"
	"encoding/base64"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strings"
	"time"
)

// compose writes a message (RFC 5322, RFC 2045): the text and the HTML as alternatives, with inline files related to the HTML, and
// the other files beside them. Bodies are base64, which no line of a sender can break.
func (o *outgoing) compose(at time.Time, hostname string) []byte {
	var b bytes.Buffer
	for _, f := range o.header(at, hostname) {
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
	root := o.body()
	root.write(&b)
	return b.Bytes()
}

// part is a node of the MIME tree. It has content or parts, not both.
type part struct {
	header  textproto.MIMEHeader
	content []byte
	parts   []part // of a multipart
}

// body returns the MIME tree. Levels with a single part are left out. Without HTML there is nothing for inline files to
// be related to, so they become attachments.
func (o *outgoing) body() part {
	var alternatives, inline, files []part
	for _, f := range o.Attachments {
		if f.ContentID != "" {
			inline = append(inline, f.part("inline"))
		} else {
			files = append(files, f.part("attachment"))
		}
	}
	if o.Text != "" || o.HTML == "" {
		alternatives = append(alternatives, leaf("text/plain; charset=utf-8", []byte(o.Text)))
	}
	if o.HTML != "" {
		page := leaf("text/html; charset=utf-8", []byte(o.HTML))
		alternatives = append(alternatives, group("multipart/related", append([]part{page}, inline...)))
	} else {
		files = append(inline, files...)
	}
	return group("multipart/mixed", append([]part{group("multipart/alternative", alternatives)}, files...))
}

// group returns a multipart, or the only part.
func group(kind string, parts []part) part {
	if len(parts) == 1 {
		return parts[0]
	}
	return part{header: textproto.MIMEHeader{"Content-Type": {kind}}, parts: parts}
}

// leaf returns a part with content, which write encodes as base64.
func leaf(contentType string, content []byte) part {
	return part{header: textproto.MIMEHeader{"Content-Type": {contentType}, "Content-Transfer-Encoding": {"base64"}}, content: content}
}

// part returns a file as a part. A content type that is not valid, or that is a multipart, becomes
// application/octet-stream.
func (f sentFile) part(disposition string) part {
	content, _ := base64.StdEncoding.DecodeString(f.Content) // check has decoded it
	media, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil || !strings.Contains(media, "/") || strings.HasPrefix(media, "multipart/") {
		media = "application/octet-stream"
	}
	p := leaf(media, content)
	p.header.Set("Content-Disposition", disposition)
	if f.Filename != "" {
		p.header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": f.Filename}))
	}
	if f.ContentID != "" {
		p.header.Set("Content-Id", "<"+strings.Trim(f.ContentID, "<> ")+">")
	}
	return p
}

// write writes the header fields of a part, an empty line and its content. The order of the header fields of a part is
// random, which RFC 2045 allows.
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

// writeBase64 writes lines of 76 characters (RFC 2045 §6.8). 57 octets become 76 characters.
func writeBase64(b *bytes.Buffer, content []byte) {
	const line = 57
	for len(content) > 0 {
		n := min(line, len(content))
		b.WriteString(base64.StdEncoding.EncodeToString(content[:n]) + "\r\n")
		content = content[n:]
	}
}

// joined returns addresses as a header field has them. Names are encoded (RFC 2047). There is one address in a line, so
// that no line is too long.
func joined(all []person) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = (&mail.Address{Name: p.Name, Address: p.Email}).String()
	}
	return strings.Join(texts, ",\r\n ")
}

// encodedWord returns a text with what is not ASCII encoded (RFC 2047). Encoded words are put on lines of their own, so that
// lines stay near the 76 characters of §2.
func encodedWord(text string) string {
	return strings.ReplaceAll(mime.QEncoding.Encode("utf-8", text), "?= =?", "?=\r\n =?")
}
