package message_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/message"
)

func TestPreview(t *testing.T) {
	for _, c := range []struct {
		text, want string
		max        int
	}{
		{"", "", 10},
		{"  Hello,\r\n\tworld  ", "Hello, world", 20},
		{"one two three", "one two", 7},
		{"one two three", "one two", 8}, // no space at the end
		{"one two three", "one two t", 9},
		{"Grüße, 世界!", "Grüße, 世", 8},
		{"a\u200b\u200c\u00ad\ufeffb", "ab", 10}, // what cannot be seen pads preheaders
		{"a\u00a0\u3000b", "a b", 10},
		{"a\x00\x1bb", "a b", 10},
		{"\u200b \u200b", "", 10},
		{strings.Repeat("x", 300), strings.Repeat("x", 200), 200},
	} {
		if got := message.Preview(c.text, c.max); got != c.want {
			t.Errorf("Preview(%q, %d) = %q, want %q", c.text, c.max, got, c.want)
		}
	}
}

func FuzzPreview(f *testing.F) {
	f.Add("Hello,\r\n world\u200b", 200)
	f.Add("\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		got := message.Preview(text, limit)
		if n := utf8.RuneCountInString(got); n > max(limit, 0) {
			t.Errorf("Preview of at most %d characters has %d, want no more", limit, n)
		}
		if got != strings.TrimSpace(got) || strings.Contains(got, "  ") || strings.ContainsAny(got, "\r\n\t\x00") {
			t.Errorf("Preview(%q, %d) = %q, want its white space folded and none around it", text, limit, got)
		}
	})
}
