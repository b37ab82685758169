package main

import (
	"bytes"
	"fmt"
	"strconv"
)

// stamped is text whose marks are overwritten in place for each mail.
type stamped struct {
	text                      []byte
	codes, serials, addresses []int
}

func newStamped(text []byte) *stamped {
	return &stamped{text: text, codes: places(text, codeMark), serials: places(text, serialMark), addresses: places(text, addressMark)}
}

func places(text []byte, mark string) []int {
	var all []int
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(mark))
		if i < 0 {
			return all
		}
		all = append(all, from+i)
		from += i + len(mark)
	}
}

func (s *stamped) stamp(code, serial int, address string) []byte {
	var digits [10]byte
	put(s.text, s.codes, padded(digits[:len(codeMark)], code))
	put(s.text, s.serials, padded(digits[:], serial))
	for _, at := range s.addresses {
		copy(s.text[at:at+len(addressMark)], address)
	}
	return s.text
}

func put(text []byte, at []int, digits []byte) {
	for _, i := range at {
		copy(text[i:], digits)
	}
}

func padded(digits []byte, n int) []byte {
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return digits
}

// codeOf spreads serial numbers over the six-digit codes without repeating one in 900,000.
func codeOf(serial int) int { return 100_000 + serial*618_031%900_000 }

// boxName is the local part of the n-th mailbox; all have the same length.
func boxName(n int) string { return fmt.Sprintf("box-%07d", n) }

// subjectCode is the code that a mail of ours has in its subject.
func subjectCode(subject string) (int, error) {
	if len(subject) < len(codeMark) {
		return 0, fmt.Errorf("subject %q has no code", subject)
	}
	return strconv.Atoi(subject[:len(codeMark)])
}

// stuffed is a message as DATA sends it (RFC 5321 §4.5.2), with its end.
func stuffed(message []byte) []byte {
	return append(bytes.ReplaceAll(message, []byte("\r\n."), []byte("\r\n..")), ".\r\n"...)
}
