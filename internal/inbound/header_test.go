package inbound_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailparse"
)

// TestParserSeesNoForgedResult holds that the two readers of a header agree: whatever a mail begins with, no field that
// mailparse shows claims to be this server's verdict once mailauth has removed those.
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
				t.Fatalf("%q: the header holds %q: %q", raw.String(), f.Name, f.Value)
			}
		}
	})
}
