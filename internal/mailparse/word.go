package mailparse

import (
	"strings"
)

// word is an encoded word (RFC 2047 §2): =?charset?encoding?text?=.
type word struct {
	charset, text string
	base64        bool
}

// cutWord parses the encoded word at the front of s, which begins with "=?", and returns its length; 0 if it is none.
// ended is false if no word can end in all of s, so that the caller need not search again: otherwise many beginnings
// would cost quadratic time. The text of a word may contain spaces and be longer than 75 characters: senders do that,
// and the closing "?=" is clear enough.
func cutWord(s string) (w word, n int, ended bool) {
	head := s[2:min(len(s), 2+maxLabel+3)]
	q := strings.IndexByte(head, '?')
	if q < 0 || len(head) < q+3 || head[q+2] != '?' || strings.ContainsAny(head[:q], " \t\"<>@") {
		return w, 0, true
	}
	switch head[q+1] {
	case 'B', 'b':
		w.base64 = true
	case 'Q', 'q':
	default:
		return w, 0, true
	}
	start := 2 + q + 3
	end := strings.Index(s[start:], "?=")
	if end < 0 {
		return w, 0, false
	}
	w.charset, w.text = head[:q], s[start:start+end]
	return w, start + end + 2, true
}

// decodeHeader decodes the encoded words and the raw 8-bit text of a header value to clean UTF-8. Raw text that is not
// UTF-8 (RFC 6532) is read in charset, the one of the mail's body.
func decodeHeader(s, charset string) string {
	if !dirty(s) {
		return s
	}
	d := wordDecoder{charset: charset}
	d.out.Grow(len(s))
	for len(s) > 0 {
		i := strings.Index(s, "=?")
		if i < 0 {
			break
		}
		w, n, ended := cutWord(s[i:])
		if !ended {
			break
		}
		if n == 0 {
			d.literal(s[:i+2])
			s = s[i+2:]
			continue
		}
		d.gap(s[:i])
		d.word(w)
		s = s[i+n:]
	}
	d.literal(s)
	return printable(d.out.String())
}

// wordDecoder collects the bytes of adjacent words in one charset before it decodes them, since senders split
// words in the middle of a character (RFC 2047 §5 forbids it).
type wordDecoder struct {
	out     strings.Builder
	charset string // of raw text

	label   string // of the pending bytes
	pending []byte
	words   bool   // the last thing seen was a word
	sextets string // base64 characters that make no whole group, waiting for the next word
}

// gap adds the text before a word: white space between two words is not part of the value (RFC 2047 §6.2).
func (d *wordDecoder) gap(s string) {
	if d.words && strings.TrimLeft(s, " \t\r\n") == "" {
		return
	}
	d.literal(s)
}

// literal adds text that is not encoded.
func (d *wordDecoder) literal(s string) {
	d.flush()
	d.words = false
	for i := range len(s) {
		if s[i] >= 0x80 {
			d.out.Write(toUTF8([]byte(s), d.charset, 3*len(s)))
			return
		}
	}
	d.out.WriteString(s)
}

// word adds the bytes of a word to the pending ones, which it first decodes if they are in another charset.
func (d *wordDecoder) word(w word) {
	if !strings.EqualFold(w.charset, d.label) || !w.base64 {
		d.flushSextets()
	}
	if !strings.EqualFold(w.charset, d.label) {
		d.flush()
		d.label = w.charset
	}
	d.words = true
	if !w.base64 {
		d.pending = appendQ(d.pending, w.text)
		return
	}
	text := d.sextets + w.text
	d.sextets = ""
	if rest := dangling(text); rest > 0 {
		d.sextets = text[len(text)-rest:]
		text = text[:len(text)-rest]
	}
	d.pending = append(d.pending, decodeBase64(nil, []byte(text))...)
}

// flush decodes the pending bytes.
func (d *wordDecoder) flush() {
	d.flushSextets()
	if len(d.pending) > 0 {
		d.out.Write(toUTF8(d.pending, d.label, 3*len(d.pending)))
	}
	d.pending, d.label = d.pending[:0], ""
}

// flushSextets decodes base64 characters that no further word completes.
func (d *wordDecoder) flushSextets() {
	if d.sextets != "" {
		d.pending = append(d.pending, decodeBase64(nil, []byte(d.sextets))...)
		d.sextets = ""
	}
}

// dangling returns how many characters at the end of unpadded base64 belong to a group that continues in the next
// word. A group whose spare bits are zero only lacks its padding and is complete.
func dangling(text string) int {
	rest := len(text) % 4
	if rest == 0 || strings.IndexByte(text, '=') >= 0 {
		return 0
	}
	last := base64Tables[3][text[len(text)-1]]
	if rest == 2 && last&0x0f == 0 || rest == 3 && last&0x03 == 0 {
		return 0
	}
	return rest
}

// appendQ decodes the Q encoding (RFC 2047 §4.2). An equals sign that no two hex digits follow stands for itself.
func appendQ(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '_':
			c = ' '
		case c == '=' && i+2 < len(s):
			if b, ok := unhex(s[i+1], s[i+2]); ok {
				c = b
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst
}
