package dialogtest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

const maxOctets = 1 << 26 // more is a slip of the pen

// octets reads a row of quoted strings, each of which may be repeated: "ab\r\n" "x"*3000. The quoting is Go's.
func octets(text string) ([]byte, error) {
	var out []byte
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q does not begin with a quoted string", text)
		}
		piece, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("unquote %s: %w", quoted, err)
		}
		text = text[len(quoted):]
		times := 1
		if strings.HasPrefix(text, "*") {
			number, after, _ := strings.Cut(text[1:], " ")
			if times, err = strconv.Atoi(number); err != nil || times < 0 {
				return nil, fmt.Errorf("%q is no number of times", number)
			}
			text = after
		}
		if times > (maxOctets-len(out))/max(len(piece), 1) {
			return nil, fmt.Errorf("%s %d times is too much", quoted, times)
		}
		out = append(out, bytes.Repeat([]byte(piece), times)...)
	}
	return out, nil
}

// matches reports whether line is the pattern, in which * stands for any text.
func matches(pattern, line string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return line == pattern
	}
	line, ok := strings.CutPrefix(line, first)
	if !ok {
		return false
	}
	for from := range len(line) + 1 {
		if matches(rest, line[from:]) {
			return true
		}
	}
	return false
}
