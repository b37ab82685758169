package main

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/inbox"
)

// What is printed of the sender is what the service decided, whatever the single verdicts are.
func TestMessageIsPrintedWithItsSender(t *testing.T) {
	domain := "shop.example"
	for want, a := range map[string]inbox.Authentication{
		"Sender:      verified, shop.example\n": {SPF: "pass", DKIM: "fail", DMARC: "none", Verified: true, Domain: &domain},
		"Sender:      not verified\n":           {SPF: "pass", DKIM: "pass", DMARC: "pass"},
	} {
		var out strings.Builder
		if err := printMessage(&out, &inbox.Message{Authentication: a}, false); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("printMessage of a message with %+v is %q, %v, want %q in it", a, out.String(), err, want)
		}
	}
}
