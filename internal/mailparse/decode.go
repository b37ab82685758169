package mailparse

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// toUTF8 decodes data from the charset the sender named, or from the one it turns out to be in.
// At most limit bytes come out. The result is valid UTF-8 and may alias data.
//
// A declaration is not always true. UTF-8 under a Latin label is so common, and Latin text that happens to be
// valid UTF-8 so rare, that the bytes are believed; likewise where "UTF-8" has not one valid character above ASCII.
func toUTF8(data []byte, label string, limit int) []byte {
	data = data[:min(len(data), 4*limit)] // four bytes in are never less than one out
	e := lookup(label)
	switch e {
	case nil, charmap.Windows1252, charmap.ISO8859_15, unicode.UTF8:
		if b := withoutMark(data); utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
			return cutBytes(b, limit)
		}
		if b, ok := asUTF8(data, e == unicode.UTF8); ok {
			return validUTF8(b, limit)
		}
		if e == nil || e == unicode.UTF8 {
			e = charmap.Windows1252
		}
	case unicode.UTF16(unicode.BigEndian, unicode.UseBOM):
		if looksLittleEndian(data) {
			e = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		}
	}
	return validUTF8(transcode(data, e, limit), limit)
}

// asUTF8 reports whether data is to be read as UTF-8, or as UTF-16 by its byte order mark, and returns it so.
func asUTF8(data []byte, declared bool) ([]byte, bool) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return transcode(data, unicode.UTF16(unicode.BigEndian, unicode.UseBOM), len(data)*2), true
	}
	data = withoutMark(data)
	if utf8.Valid(data) {
		return data, true
	}
	return data, hasMultibyte(data) && (declared || utf8.Valid(withoutCutRune(data)))
}

// withoutMark removes a byte order mark.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte(byteOrderMark)) }

// withoutCutRune removes a character that was cut in its middle, as by one of our limits.
func withoutCutRune(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

// hasMultibyte reports whether there is a valid character above ASCII in data, or one cut off at its end.
func hasMultibyte(data []byte) bool {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		rest := len(data) - i
		if n > 1 || r == utf8.RuneError && 2 <= rest && rest < utf8.UTFMax && !utf8.FullRune(data[i:]) {
			return true
		}
		i += n
	}
	return false
}

// looksLittleEndian reports whether UTF-16 without a byte order mark has its zeros where Latin text
// in little-endian order has them.
func looksLittleEndian(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return false
	}
	var zeros [2]int
	for i, c := range data[:min(len(data), 512)] {
		if c == 0 {
			zeros[i&1]++
		}
	}
	return zeros[1] > zeros[0]
}

// transcode runs a decoder over data until limit bytes are out. The decoders replace what is
// invalid and never fail, but for a destination that is too small.
func transcode(data []byte, e encoding.Encoding, limit int) []byte {
	t := e.NewDecoder().Transformer
	dst := make([]byte, min(limit, len(data)+len(data)/2+16))
	out := 0
	for {
		n, used, err := t.Transform(dst[out:], data, true)
		out += n
		data = data[used:]
		if !errors.Is(err, transform.ErrShortDst) || len(dst) >= limit {
			return dst[:out]
		}
		grown := make([]byte, min(limit, 2*len(dst)))
		copy(grown, dst[:out])
		dst = grown
	}
}

// validUTF8 replaces runs of NULs and of invalid bytes by U+FFFD and cuts at limit. It copies only if it must.
func validUTF8(b []byte, limit int) []byte {
	b = cutBytes(b, limit)
	if bytes.IndexByte(b, 0) < 0 && utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, min(limit, len(b)+len(b)/8+len(replacement)))
	bad := false // the last thing written was a replacement
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		good := r != 0 && (r != utf8.RuneError || n > 1)
		text := b[i : i+n]
		i += n
		if !good {
			if bad {
				continue
			}
			text = []byte(replacement)
		}
		bad = !good
		if len(out)+len(text) > limit {
			break
		}
		out = append(out, text...)
	}
	return out
}

// cutBytes is cut for bytes.
func cutBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}
