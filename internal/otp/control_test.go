package otp_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// A control character is not shown, and what follows it does not belong to the address or the code before it.
func TestControlCharactersEndAddresses(t *testing.T) {
	const link = "https://shop.example/verify?t=1"
	for _, control := range []string{"\x01", "\x1b[2J", "\x1f", "\x7f", "\u0085", "\u009b"} {
		got := otp.Extract(otp.Mail{Subject: "Verify your address", Text: "Please verify your e-mail address: " + link + control + "more\n"})
		if got.Action == nil || got.Action.URL != link {
			t.Errorf("Extract(%q) has the action %+v, want %s", link+control+"more", got.Action, link)
		}
		got = otp.Extract(otp.Mail{Subject: "Your code", Text: "Your verification code is 482913" + control + " and nothing else.\n"})
		if got.Code != "482913" {
			t.Errorf("Extract(482913 and %q) = %q, want 482913", control, got.Code)
		}
	}
}
