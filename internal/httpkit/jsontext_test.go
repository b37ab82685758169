package httpkit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/httpkit"
)

// A text in pieces of any size is encoded as encoding/json encodes it at once.
func FuzzJSONText(f *testing.F) {
	for _, text := range []string{"", "a\"b\\c\r\n", "\x00\xff<>&\u2028", strings.Repeat("é", 20_000), strings.Repeat("\xe2\x82", 9_000), strings.Repeat("x", 16<<10-1) + "€", "\xf0\x9f\x98", "a\x80\x80\x80\x80b"} {
		f.Add(text, 3)
		f.Add(text, 100_000)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		var want, got bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatalf("encode %.100q: %v", text, err)
		}
		out := bufio.NewWriter(&got)
		w := httpkit.NewJSONText(out)
		w.Begin()
		for left := []byte(text); len(left) > 0; {
			n := min(max(size, 1), len(left))
			if _, err := w.Write(left[:n]); err != nil {
				t.Fatalf("Write(%.100q): %v", left[:n], err)
			}
			left = left[n:]
		}
		if err := w.End(); err != nil {
			t.Fatalf("End: %v", err)
		}
		out.Flush()
		if got.String()+"\n" != want.String() {
			t.Errorf("%.100q in pieces of %d is %.200q, want %.200q", text, size, got.String(), want.String())
		}
	})
}
