package message

import (
	"strconv"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/clock"
)

// jsonWriter appends as JSON what is stored of each mail, octet for octet as package encoding/json does, in a third of the time
// (BenchmarkJSON). TestJSONIsThatOfTheLibrary compares both: it fails for a field that is missing here. The methods for values are given what
// stands before theirs.
type jsonWriter struct {
	b       []byte
	escaped byte // what is escaped in texts: inJSON, or inHTML as json.Marshal does
}

// The octets of a text that may have to be escaped.
const (
	inJSON = 1 << iota
	markup // of HTML
	inHTML = inJSON | markup
)

// special has for each octet where it is escaped, or may begin a character that is.
var special = func() (t [256]byte) {
	for c := range t {
		switch {
		case c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf:
			t[c] = inJSON
		case c == '<' || c == '>' || c == '&':
			t[c] = markup
		}
	}
	return t
}()

func (w *jsonWriter) raw(s string) { w.b = append(w.b, s...) }

// begin appends what stands before a value, and null where there is none. It reports whether there is one.
func (w *jsonWriter) begin(before string, exists bool) bool {
	w.raw(before)
	if !exists {
		w.raw("null")
	}
	return exists
}

// summary is the JSON that encode returns.
func (w *jsonWriter) summary(m *Summary) {
	w.text(`{"id":`, string(m.ID))
	w.text(`,"mailboxId":`, string(m.MailboxID))
	w.address(`,"from":`, m.From)
	writeList(w, `,"to":`, m.To, w.address)
	w.text(`,"subject":`, m.Subject)
	w.text(`,"preview":`, m.Preview)
	w.stamp(`,"receivedAt":`, m.ReceivedAt)
	if w.begin(`,"sentAt":`, m.SentAt != nil) {
		w.stamp("", *m.SentAt)
	}
	w.number(`,"size":`, m.Size)
	w.flag(`,"seen":`, m.Seen)
	w.flag(`,"hasAttachments":`, m.HasAttachments)
	w.otp(`,"otp":`, m.OTP)
	w.text(`,"source":`, m.Source)
	w.flag(`,"verified":`, m.Verified)
	w.action(`,"action":`, m.Action)
	if len(m.Tags) > 0 {
		writeList(w, `,"tags":`, m.Tags, w.text)
	}
	w.raw("}")
}

func (w *jsonWriter) otp(before string, o *OTP) {
	if !w.begin(before, o != nil) {
		return
	}
	w.text(`{"code":`, o.Code)
	w.text(`,"display":`, o.Display)
	w.text(`,"messageId":`, string(o.MessageID))
	w.address(`,"from":`, o.From)
	w.text(`,"subject":`, o.Subject)
	w.stamp(`,"receivedAt":`, o.ReceivedAt)
	w.confidence(`,"confidence":`, o.Confidence)
	w.text(`,"source":`, o.Source)
	w.optional(`,"filterId":`, o.FilterID)
	w.text(`,"kind":`, o.Kind)
	writeList(w, `,"links":`, o.Links, w.text)
	w.raw("}")
}

func (w *jsonWriter) action(before string, a *Action) {
	if !w.begin(before, a != nil) {
		return
	}
	w.text(`{"url":`, a.URL)
	w.text(`,"host":`, a.Host)
	w.text(`,"kind":`, a.Kind)
	w.confidence(`,"confidence":`, a.Confidence)
	w.raw("}")
}

// internal is the JSON that encode returns.
func (w *jsonWriter) internal(i *internal) {
	writeList(w, `{"envelopeTo":`, i.EnvelopeTo, w.text)
	if i.MessageID != "" {
		w.text(`,"messageId":`, i.MessageID)
	}
	w.set(`,"noTo":`, i.NoTo)
	w.set(`,"hasLinks":`, i.HasLinks)
	if i.Client != "" {
		w.text(`,"client":`, i.Client)
	}
	w.set(`,"hasBest":`, i.HasBest)
	if len(i.CC) > 0 {
		writeList(w, `,"cc":`, i.CC, w.address)
	}
	w.raw("}")
}

// detail is the JSON that json.Marshal returns.
func (w *jsonWriter) detail(d *detail) {
	writeList(w, `{"cc":`, d.CC, w.address)
	writeList(w, `,"replyTo":`, d.ReplyTo, w.address)
	w.text(`,"messageId":`, d.MessageID)
	writeList(w, `,"headers":`, d.Headers, w.header)
	w.text(`,"text":`, d.Detail.Text)
	w.optional(`,"html":`, d.Detail.HTML)
	writeList(w, `,"attachments":`, d.Attachments, w.attachment)
	writeList(w, `,"links":`, d.Links, w.text)
	w.optional(`,"bestLink":`, d.BestLink)
	w.text(`,"authentication":{"spf":`, d.Authentication.SPF)
	w.text(`,"dkim":`, d.Authentication.DKIM)
	w.text(`,"dmarc":`, d.Authentication.DMARC)
	w.flag(`,"verified":`, d.Authentication.Verified)
	w.optional(`,"domain":`, d.Authentication.Domain)
	w.text(`},"envelope":{"from":`, d.Envelope.From)
	writeList(w, `,"to":`, d.Envelope.To, w.text)
	w.text(`,"helo":`, d.Envelope.Helo)
	w.text(`,"remoteIp":`, d.Envelope.RemoteIP)
	w.flag(`,"tls":`, d.Envelope.TLS)
	w.stamp(`},"rawExpiresAt":`, d.RawExpiresAt)
	if d.Uncut != nil {
		w.text(`,"uncut":{"subject":`, d.Uncut.Subject)
		w.address(`,"from":`, d.Uncut.From)
		writeList(w, `,"to":`, d.Uncut.To, w.address)
		w.raw("}")
	}
	w.set(`,"derived":`, d.Derived)
	if d.Best != nil {
		w.text(`,"best":`, *d.Best)
	}
	if len(d.Parts) > 0 {
		writeList(w, `,"parts":`, d.Parts, w.text)
	}
	w.number(`,"textLen":`, int64(d.TextLen))
	w.raw("}")
}

func (w *jsonWriter) address(before string, a Address) {
	w.raw(before)
	w.text(`{"name":`, a.Name)
	w.text(`,"address":`, a.Address)
	w.raw("}")
}

func (w *jsonWriter) header(before string, h Header) {
	w.raw(before)
	w.text(`{"name":`, h.Name)
	w.text(`,"value":`, h.Value)
	w.raw("}")
}

func (w *jsonWriter) attachment(before string, a Attachment) {
	w.raw(before)
	w.text(`{"id":`, string(a.ID))
	w.text(`,"filename":`, a.Filename)
	w.text(`,"contentType":`, a.ContentType)
	w.number(`,"size":`, a.Size)
	w.text(`,"sha256":`, a.SHA256)
	w.flag(`,"inline":`, a.Inline)
	w.optional(`,"contentId":`, a.ContentID)
	w.flag(`,"available":`, a.Available)
	w.raw("}")
}

// writeList appends a list whose elements one of the methods of w appends.
func writeList[T any](w *jsonWriter, before string, all []T, one func(before string, v T)) {
	if !w.begin(before, all != nil) {
		return
	}
	w.raw("[")
	for i, v := range all {
		one(","[:min(i, 1)], v)
	}
	w.raw("]")
}

// set appends a flag that is left out where it is false.
func (w *jsonWriter) set(before string, v bool) {
	if v {
		w.flag(before, v)
	}
}

func (w *jsonWriter) flag(before string, v bool) { w.b = strconv.AppendBool(append(w.b, before...), v) }

func (w *jsonWriter) number(before string, n int64) {
	w.b = strconv.AppendInt(append(w.b, before...), n, 10)
}

// confidence appends a number from 0 to 1 in thousandths. The library writes smaller fractions with an exponent.
func (w *jsonWriter) confidence(before string, v float64) {
	w.b = strconv.AppendFloat(append(w.b, before...), v, 'f', -1, 64)
}

func (w *jsonWriter) stamp(before string, at clock.Stamp) {
	b, _ := at.AppendText(append(append(w.b, before...), '"')) // it never fails
	w.b = append(b, '"')
}

// optional appends a text that may be null.
func (w *jsonWriter) optional(before string, s *string) {
	if w.begin(before, s != nil) {
		w.text("", *s)
	}
}

// text appends a string (RFC 8259 §7).
func (w *jsonWriter) text(before, s string) {
	b := append(append(w.b, before...), '"')
	from := 0 // what is not appended yet
	for i := 0; i < len(s); {
		if special[s[i]]&w.escaped == 0 {
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		if c < utf8.RuneSelf || c == '\u2028' || c == '\u2029' || c == utf8.RuneError && size == 1 {
			b = appendEscape(append(b, s[from:i]...), c)
			from = i + size
		}
		i += size
	}
	w.b = append(append(b, s[from:]...), '"')
}

func appendEscape(b []byte, c rune) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', byte(c))
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[c>>12], hex[c>>8&0xf], hex[c>>4&0xf], hex[c&0xf])
}
