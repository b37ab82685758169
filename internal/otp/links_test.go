package otp

import (
	"slices"
	"strings"
	"testing"
)

func TestWordSet(t *testing.T) {
	for _, text := range []string{"", "v", "verify/verify", "log-in?code=1&token=2", "magic.otp", "sign_in-signin", "VERIF", "auth/author", "codes", "potvrdbestaetaktiv"} {
		want := 0
		for _, w := range wantedWords.words {
			if strings.Contains(text, w) {
				want++
			}
		}
		if got := wantedWords.in(text); got != want {
			t.Errorf("%q has %d words, want %d", text, got, want)
		}
	}
}

// A link counts from where the mail has it first, and as much as where it is
// worth most.
func TestLinkOrder(t *testing.T) {
	const a, b = "https://a.example/verify", "https://b.example/verify"
	got := Extract(Mail{HTML: `<a href="` + a + `">unsubscribe</a><p><a href="` + b + `">here</a><p><a href="` + a + `">there</a>`}).Links
	if !slices.Equal(got, []string{a, b}) {
		t.Errorf("got %q", got)
	}
}
