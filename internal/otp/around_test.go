package otp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// What is a postal code in an address is a code elsewhere.
func TestPostalCodes(t *testing.T) {
	for text, want := range map[string]bool{
		"Acme Ltd, 12 Harbour Street, 90210 Springfield":               true,
		"Acme Inc., 548 Market St, PMB 72296, San Francisco, CA 94104": true,
		"Acme GmbH · Musterstraße 12 · 10115 Berlin":                   true,
		"Acme SAS\n12 rue de la Paix\n75002 Paris":                     true,
		"Acme, S.L. | Calle Mayor, 12, 28013 Madrid":                   true,
		"Acme A.Ş., Atatürk Cad. No: 12, 34349 Beşiktaş":               true,
		"Your code, 482913":    false,
		"Kód: 771204, Acme 12": false,
		"Sikkerhetskoden din er 661866. Legesenteret, Storgata 9, Oslo": false,
		"482913 Acme":                                            false,
		"54,90 EUR, Acme 771204":                                 false,
		"Please use 482913 now, Anna, 12 May":                    false,
		strings.Repeat("Acme ", 40) + "90210, 12 Harbour Street": false,
	} {
		got := slices.ContainsFunc(otp.Explain(otp.Mail{Text: text}).Candidates, func(c otp.Candidate) bool {
			return slices.ContainsFunc(c.Reasons, func(r string) bool { return strings.Contains(r, "postal code of an address") })
		})
		if got != want {
			t.Errorf("%q: an address %t, want %t", text, got, want)
		}
	}
}

// A break in the midst of a sentence is a space, and any other is none.
func TestBrokenLines(t *testing.T) {
	wantCodes(t, "Two-step verification", map[string]string{
		"You turned it off on 3 March, as you have asked us to do. Reference\n771204.":   "",
		"Please enter the following number on the page that asks for your code:\n482913": "482913",
		"To sign in to your account at Acme, enter the verification\ncode 482913.":       "482913",
		"Your verification code is\n\n482913\n\nIt is valid for ten minutes from now on": "482913",
	})
}

// What is above all of a mail is no footer, and what is below is.
func TestFootersBeginBelow(t *testing.T) {
	wantCodes(t, "Confirm your e-mail", map[string]string{
		"View in browser: https://acme.example/v/1\n\nHello,\n\nput 90441 in on the page.\n":          "90441",
		"Hello,\n\nput 90441 in on the page.\n\nAcme, HRB 204771, KRS 0000482913, NIP 5252482913\n":   "90441",
		"Hello,\n\nsomebody signed in.\n\nAcme sp. z o.o., KRS 0000482913, NIP 5252482913\n":          "",
		"ACME\n====\n\nYour passcode was changed. If that was not you, sign in and change your code.": "",
		"Cześć,\n\nhasło zostało zmienione.\n\nPobierz aplikację: App Store | Google Play\n":          "",
	})
}

// wantCodes reads texts under a subject.
func wantCodes(t *testing.T, subject string, texts map[string]string) {
	t.Helper()
	for text, want := range texts {
		if got := otp.Extract(otp.Mail{Subject: subject, Text: text}).Code; got != want {
			t.Errorf("Extract(%q) = %q, want %q", text, got, want)
		}
	}
}
