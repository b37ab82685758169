package mailparse

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// transferEncoding parses a Content-Transfer-Encoding (RFC 2045 §6.1): its first token, in lower case, whatever
// follows. An unknown one is treated like no encoding: octets as they were sent are better than none.
func transferEncoding(value string) string {
	value = trimLeft(stripComment(value), blank|quote|apostrophe)
	if i := indexOf(value, blank|semicolon|comma|parenthesis|quote|apostrophe); i >= 0 {
		value = value[:i]
	}
	return strings.ToLower(value)
}

// stripComment removes a comment at the front of s.
func stripComment(s string) string {
	s = trimLeft(s, blank)
	if strings.HasPrefix(s, "(") {
		if _, rest, ok := strings.Cut(s, ")"); ok {
			return rest
		}
	}
	return s
}

// base64Max returns the size of the buffer that decoding n octets of base64 needs, with what decodeGroups writes
// beyond its result.
func base64Max(n int) int { return n/4*3 + 8 }

// decodedMax returns the size of the buffer that decoding n octets needs.
func decodedMax(encoding string, n int) int {
	if encoding == "base64" {
		return base64Max(n)
	}
	return n
}

// decodeBase64 decodes RFC 2045 §6.8 by blocks of four characters. Characters outside of the alphabet are skipped,
// padding may be missing, and what follows the padding or a blank line counts only if it is base64 again, which a
// footer added by a mailing list is not. The result is in dst's memory if that is large enough.
func decodeBase64(dst, src []byte) []byte {
	dst = slices.Grow(dst[:0], base64Max(len(src)))
	var group uint32
	have := 0
	for len(src) > 0 {
		if have == 0 {
			if dst, src = decodeGroups(dst, src); len(src) == 0 {
				break
			}
		}
		c := src[0]
		src = src[1:]
		if c == '=' {
			dst = appendGroup(dst, group, have)
			group, have = 0, 0
			src = bytes.TrimLeft(src, "=")
			if len(src) > 0 && isSpace(src[0]) && notBase64Line(trimSpaceLeft(src)) {
				return dst
			}
			continue
		}
		v := base64Tables[3][c]
		if v >= notBase64 {
			if c == '\n' && have == 0 && len(src) > 0 && isSpace(src[0]) && src[0] != ' ' { // a blank line
				src = trimSpaceLeft(src)
				if notBase64Line(src) {
					return dst
				}
			}
			continue
		}
		group = group<<6 | v
		have++
		if have == 4 {
			dst = append(dst, byte(group>>16), byte(group>>8), byte(group))
			group, have = 0, 0
		}
	}
	return appendGroup(dst, group, have)
}

// decodeGroups decodes the whole groups of four characters that src begins with, and skips the line ends between them.
// It stops at anything else. dst must have the capacity for what src may contain and two bytes more, which are written
// as well. Two groups are decoded at once, since nearly all of a large mail is base64.
func decodeGroups(dst, src []byte) (decoded, rest []byte) {
	t0, t1, t2, t3 := &base64Tables[0], &base64Tables[1], &base64Tables[2], &base64Tables[3]
	n, out := len(dst), dst[:cap(dst)]
	for {
		for len(src) >= 8 && len(out)-n >= 8 {
			c := binary.LittleEndian.Uint64(src)
			high := t0[byte(c)] | t1[byte(c>>8)] | t2[byte(c>>16)] | t3[byte(c>>24)]
			low := t0[byte(c>>32)] | t1[byte(c>>40)] | t2[byte(c>>48)] | t3[byte(c>>56)]
			if high|low >= notBase64 {
				break
			}
			binary.BigEndian.PutUint64(out[n:], uint64(high)<<40|uint64(low)<<16)
			n, src = n+6, src[8:]
		}
		if len(src) >= 4 && len(out)-n >= 4 {
			if v := t0[src[0]] | t1[src[1]] | t2[src[2]] | t3[src[3]]; v < notBase64 {
				binary.BigEndian.PutUint32(out[n:], v<<8)
				n, src = n+3, src[4:]
			}
		}
		if len(src) < 3 || src[0] != '\r' || src[1] != '\n' || t3[src[2]] >= notBase64 {
			return out[:n], src
		}
		src = src[2:]
	}
}

// appendGroup appends the whole bytes in a group of have < 4 characters.
func appendGroup(dst []byte, group uint32, have int) []byte {
	switch have {
	case 2:
		return append(dst, byte(group>>4))
	case 3:
		return append(dst, byte(group>>10), byte(group>>2))
	}
	return dst
}

// notBase64Line reports whether the line at the front of src contains anything that is no base64.
func notBase64Line(src []byte) bool {
	line, _ := lineAt(src, 0)
	for _, c := range trimSpaceRight(line) {
		if base64Tables[3][c] >= notBase64 && c != '=' {
			return true
		}
	}
	return false
}

// notBase64 is the bit that marks a character outside of the alphabet.
const notBase64 = 1 << 24

// base64Tables has the value of each character, shifted to its place in a group of four. It is never changed.
var base64Tables = makeBase64Tables()

func makeBase64Tables() (tables [4][256]uint32) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for place := range tables {
		for c := range tables[place] {
			tables[place][c] = notBase64
		}
		for v, c := range []byte(alphabet) {
			tables[place][c] = uint32(v) << (18 - 6*place)
		}
	}
	return tables
}

// decodeQuotedPrintable decodes RFC 2045 §6.7. White space at the end of a line is dropped, a line that ends in an
// equals sign continues in the next one, and an equals sign that no two hex digits follow stands for itself. The
// result is in dst's memory if that is large enough.
func decodeQuotedPrintable(dst, src []byte) []byte {
	dst = slices.Grow(dst[:0], len(src))
	for len(src) > 0 {
		end, next := len(src), len(src)
		if i := bytes.IndexByte(src, '\n'); i >= 0 {
			end, next = i, i+1
		}
		line := src[:end]
		crlf := next > end && end > 0 && line[end-1] == '\r'
		line = trimSpaceRight(line)
		soft := len(line) > 0 && line[len(line)-1] == '='
		if soft {
			line = line[:len(line)-1]
		}
		dst = appendQuoted(dst, line)
		if !soft && crlf {
			dst = append(dst, '\r', '\n')
		} else if !soft && next > end {
			dst = append(dst, '\n')
		}
		src = src[next:]
	}
	return dst
}

// appendQuoted decodes one line without its end.
func appendQuoted(dst, line []byte) []byte {
	for {
		i := bytes.IndexByte(line, '=')
		if i < 0 {
			return append(dst, line...)
		}
		dst = append(dst, line[:i]...)
		line = line[i:]
		if len(line) >= 3 {
			if b, ok := unhex(line[1], line[2]); ok {
				dst = append(dst, b)
				line = line[3:]
				continue
			}
		}
		dst = append(dst, '=')
		line = line[1:]
	}
}

// unhex returns the byte of two hex digits, in either case.
func unhex(high, low byte) (byte, bool) {
	h, l := hexDigits[high], hexDigits[low]
	return h<<4 | l&0x0f, (h|l)&notHex == 0
}

// notHex is the bit that marks a character that is no hex digit.
const notHex = 0x10

// hexDigits has the value of each character. It is never changed.
var hexDigits = makeHexDigits()

func makeHexDigits() (digits [256]byte) {
	for c := range digits {
		digits[c] = notHex
	}
	for v, c := range []byte("0123456789abcdef") {
		digits[c] = byte(v)
	}
	for v, c := range []byte("ABCDEF") {
		digits[c] = byte(v + 10)
	}
	return digits
}
