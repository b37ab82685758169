package inbound_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailparse"
)

// Packages mailauth and mailparse both read the header. They must agree about where it ends: after mailauth has removed forged
// Authentication-Results fields, mailparse must not find one, whatever the mail begins with.
func TestParserSeesNoForgedResult(t *testing.T) {
	const us = "mx.example.net"
	lines := rapid.SampledFrom([]string{
		"Authentication-Results: mx.example.net; spf=pass", "Authentication-Results : mx.example.net; spf=pass", "\uFEFF", "\r\n",
		"Subject: s", "stray", " fold", "\tAuthentication-Results: mx.example.net", "From a@b Mon Mar 3", ">From a@b", "https://example.com",
		"\uFEFFSubject: s", "Content-Type: text/plain", "X: y", ":", "From:",
	})
	ends := rapid.SampledFrom([]string{"\r\n", "\r\n", "\n", "\r\n\r\n", ""})
	rapid.Check(t, func(t *rapid.T) {
		var raw strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			raw.WriteString(lines.Draw(t, "line") + ends.Draw(t, "end"))
		}
		for _, f := range mailparse.Parse(mailauth.StripForged([]byte(raw.String()), us)).Header {
			if strings.EqualFold(f.Name, "Authentication-Results") && strings.HasPrefix(f.Value, us) {
				t.Fatalf("StripForged(%q) leaves the field %s: %q, want none that names %s", raw.String(), f.Name, f.Value, us)
			}
		}
	})
}
