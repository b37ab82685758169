package smtpd_test

import (
	"bytes"
	"testing"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// reference implements the same rules, one octet at a time.
func reference(wire []byte, bareLF bool, limit int64) (message, rest []byte, found smtpd.Unstuffed) {
	message = []byte{}
	malformed := "\r\n\x00"
	if bareLF {
		malformed = "\r\x00"
	}
	if first := bytes.IndexByte(wire, '\n'); first > 0 && wire[first-1] == '\r' {
		bareLF = bareLF && string(wire[:first+1]) == ".\r\n" // which ends an empty message
	}
	line := "\r\n"
	if bareLF {
		line = "\n"
	}
	lineStart := true
	for i := range wire {
		if lineStart && wire[i] == '.' {
			after, crlf := bytes.CutPrefix(wire[i:], []byte(".\r\n"))
			if !crlf && bareLF {
				after, crlf = bytes.CutPrefix(wire[i:], []byte(".\n"))
			}
			if crlf {
				found.Ended = true
				rest = after
				break
			}
			lineStart = false
			continue
		}
		message = append(message, wire[i])
		lineStart = bytes.HasSuffix(wire[:i+1], []byte(line))
	}
	if !found.Ended {
		return nil, nil, smtpd.Unstuffed{}
	}
	plain := bytes.ReplaceAll(message, []byte("\r\n"), nil)
	found.Malformed = bytes.ContainsAny(plain, malformed)
	found.Size = int64(len(message))
	found.TooLarge = found.Size > limit
	if found.TooLarge {
		message = nil
	}
	return message, rest, found
}

// FuzzData compares unstuffer with the reference, however the octets are split into reads.
func FuzzData(f *testing.F) {
	for _, seed := range []string{
		".\r\n", "\r\n.\r\n", "a\r\n.\r\nQUIT\r\n", "..\r\n.\r\n", "a\r\n..b\r\n.c\r\n.\r\n", "a\r\r\n.\r\n", "a\n.\n.\r\n\r\n.\r\n",
		"a\r.\r\r\n.\r\n", "\r\n.\rx\r\n.\r\n", "\x00\r\n.\r\n", ".\r.\r\n\r\n.\r\n", "a\r\n.\n.\r\n\r\n.\r\n", "\n\r\n.\r\n", ".\n.\r\n\r\n.\r\n",
	} {
		for _, bareLF := range []bool{false, true} {
			f.Add([]byte(seed), bareLF, int64(1000), []byte{0})
			f.Add([]byte(seed), bareLF, int64(2), []byte{1, 0, 2})
			f.Add([]byte(seed), bareLF, int64(1000), []byte(nil))
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, bareLF bool, limit int64, sizes []byte) {
		limit = max(limit, 0)
		wantMessage, wantRest, want := reference(wire, bareLF, limit)
		message, rest, found := smtpd.Unstuff(bytes.Clone(wire), bareLF, limit, sizes)
		if found != want || !bytes.Equal(message, wantMessage) || !bytes.Equal(rest, wantRest) {
			t.Errorf("%q in reads of %v, bare LF %v, limit %d:\ngot  %q %q %+v\nwant %q %q %+v", wire, sizes, bareLF, limit, message, rest, found, wantMessage, wantRest, want)
		}
	})
}

// compareCuts compares unstuffer with the reference, with the octets in two reads however they are cut.
func compareCuts(t *testing.T, wire []byte) {
	t.Helper()
	for _, bareLF := range []bool{false, true} {
		wantMessage, wantRest, want := reference(wire, bareLF, 5)
		for first := range byte(len(wire)) {
			message, rest, found := smtpd.Unstuff(bytes.Clone(wire), bareLF, 5, []byte{first, 0})
			if found != want || !bytes.Equal(message, wantMessage) || !bytes.Equal(rest, wantRest) {
				t.Fatalf("%q, bare LF %v, cut after %d: got %q %q %+v, want %q %q %+v", wire, bareLF, first+1, message, rest, found, wantMessage, wantRest, want)
			}
		}
	}
}

// The test tries every way to split every short text over the octets that are significant.
func TestDataIsTheSameHoweverItIsSplit(t *testing.T) {
	const alphabet = "\r\n.x"
	for length := range 7 {
		text := make([]byte, length)
		var each func(at int)
		each = func(at int) {
			if at < length {
				for _, c := range []byte(alphabet) {
					text[at] = c
					each(at + 1)
				}
				return
			}
			for _, end := range []string{"\r\n.\r\nrest", "\n.\nrest"} {
				compareCuts(t, append(bytes.Clone(text), end...))
			}
		}
		each(0)
	}
}
