package httpkit_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/httpkit"
)

// wellFormed is version 00 of W3C Trace Context §3.2.2.
var wellFormed = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`)

func FuzzTraceparent(f *testing.F) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for _, seed := range []string{
		"", "00-" + trace + "-" + span + "-01", "cc-" + trace + "-" + span + "-ff-more", "ff-" + trace + "-" + span + "-01",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01", "00-" + trace + "-" + span + "-1", strings.Repeat("-", 55), "00-" + trace + "-" + span + "-01-",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, parent string) {
		answer, continued := httpkit.Traceparent(parent)
		if !wellFormed.MatchString(answer) || strings.Contains(answer, strings.Repeat("0", 32)) {
			t.Fatalf("Traceparent(%q) = %q, want a well-formed one with identifiers other than zero", parent, answer)
		}
		if continued && (answer[3:35] != parent[3:35] || answer[36:52] == parent[36:52]) {
			t.Errorf("Traceparent(%q) = %q, want the same trace with another span", parent, answer)
		}
		if again, ok := httpkit.Traceparent(answer); !ok || again[3:35] != answer[3:35] {
			t.Errorf("Traceparent(%q) = %q, %t, want the same trace continued", answer, again, ok)
		}
	})
}
