package otp_test

import (
	"fmt"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// TestHalvesInCells holds that a half of a code in two cells, boxes or lines is never taken
// for the code: it is read whole or not at all. A year on a line of its own is no half.
func TestHalvesInCells(t *testing.T) {
	frames := map[string]string{
		"cells":       `<table><tr><td>%s</td><td>%s</td></tr></table>`,
		"padded":      `<p><span style="padding:4px">%s</span><span style="padding:4px">%s</span></p>`,
		"flex":        `<div style="display:flex"><span>%s</span><span>%s</span></div>`,
		"float":       `<p><b style="float:left">%s</b><b style="float:left">%s</b></p>`,
		"paragraphs":  `<p>%s</p><p>%s</p>`,
		"block spans": `<span style="display:block">%s</span><span style="display:block">%s</span>`,
	}
	labels := []string{`<p>Your verification code</p>%s`, `<p>Enter this to sign in:</p>%s<p>It expires soon.</p>`, `<p>Ihr Code zur Anmeldung:</p>%s`}
	for name, frame := range frames {
		for _, halves := range [][2]string{{"481", "9204"}, {"4819", "204"}, {"4819", "7047"}, {"481", "920"}, {"48", "7973"}, {"4819", "73"}, {"48192", "70473"}} {
			whole := halves[0] + halves[1]
			for _, label := range labels {
				html := fmt.Sprintf(label, fmt.Sprintf(frame, halves[0], halves[1]))
				if got := otp.Extract(otp.Mail{Subject: "Sign in", HTML: html}).Code; got != "" && got != whole {
					t.Errorf("%s: Extract of %s gives the code %q, want %q or none", name, html, got, whole)
				}
			}
		}
	}
	for html, want := range map[string]string{
		`<p>Your verification code</p><table><tr><td>481</td><td>9204</td></tr></table>`:                             "4819204",
		`<p>Your verification code</p><table><tr><td>4819</td><td>7047</td></tr></table>`:                            "48197047",
		`<table><tr><td>Verification code</td><td>4819</td><td>7047</td></tr></table>`:                               "48197047",
		`<table><tr><td>Verification code</td><td>4819</td><td>10 minutes</td></tr></table>`:                         "4819",
		`<table><tr><td>Verification code</td><td>4819</td></tr><tr><td>Valid until</td><td>10:45</td></tr></table>`: "4819",
	} {
		wantCode(t, otp.Mail{Subject: "Sign in", HTML: html}, want)
	}
}
