package otp

import (
	"slices"
	"strings"
	"testing"
)

func TestWordSet(t *testing.T) {
	for _, text := range []string{"", "v", "verify/verify", "log-in?code=1&token=2", "magic.otp", "sign_in-signin", "VERIF", "LOG_in Log-In", "verİfy", "auth/author", "codes", "potvrdbestaetaktiv"} {
		want := 0
		for _, w := range wantedWords.words {
			if strings.Contains(strings.ToLower(text), w) {
				want++
			}
		}
		if got := wantedWords.count(text); got != want {
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
		t.Errorf("the links are %q, want %q", got, []string{a, b})
	}
}

// An address is given as it is meant, however its ampersands are written.
func TestLinkEscapes(t *testing.T) {
	for href, want := range map[string]string{
		"https://a.example/verify?a=1&amp;b=2":                         "https://a.example/verify?a=1&b=2",
		" https://a.example/verify?a=1&amp;amp;b ":                     "https://a.example/verify?a=1&amp;b",
		"https://a.example/verify?a=1&b=2":                             "https://a.example/verify?a=1&b=2",
		"https://a.example/&#118;erify?a&amp;b":                        "https://a.example/verify?a&b",
		"https://a.example/VERIFY?a&amp;b":                             "https://a.example/VERIFY?a&b",
		"https://a.example/ver\u0130fy?a&amp;b":                        "https://a.example/ver\u0130fy?a&b",
		"https://a.example/x?a&amp;b":                                  "",
		"https://a.example/" + strings.Repeat("&amp;", 200) + "verify": "https://a.example/" + strings.Repeat("&", 200) + "verify",
		"https://a.example/" + strings.Repeat("x", 600) + "&amp;login": "",
	} {
		got := ""
		for _, l := range Extract(Mail{HTML: `<a href="` + href + `">here</a>`}).Links {
			got = l
		}
		if got != want {
			t.Errorf("%.60q gives %.60q, want %.60q", href, got, want)
		}
	}
}

// An address in the text is given as package autolink reads it.
func TestTextLinks(t *testing.T) {
	for text, want := range map[string]string{
		"Verify: https://a.example/verify?t=Zx8kQ2v_":                                                                                 "https://a.example/verify?t=Zx8kQ2v_",
		"Verify: https://a.example/verify?t=Zx8kQ2v-.":                                                                                "https://a.example/verify?t=Zx8kQ2v-",
		"Verify: https://a.example/verify_(1)?a=(b),c*d|":                                                                             "https://a.example/verify_(1)?a=(b),c*d",
		"(Verify: https://a.example/verify?t=1)":                                                                                      "https://a.example/verify?t=1",
		"请点击链接确认邮箱：https://a.example/verify?t=abc。谢谢":                                                                                 "https://a.example/verify?t=abc",
		"Verify at this address:\n<https://a.example/verify?t=abc\n 0123>\n":                                                          "https://a.example/verify?t=abc0123",
		"Verify at this address, which leads to the page:\n<URL:https://a.example/verify?t=abcdefghijklmnopqrstuvwxyz\n0123456789>\n": "https://a.example/verify?t=abcdefghijklmnopqrstuvwxyz0123456789",
		"Verify: https://a.example/\u200bverify?t=1\u200b":                                                                            "https://a.example/verify?t=1",
		"Verify [here](https://a.example/verify?t=1)":                                                                                 "https://a.example/verify?t=1",
		"Verify: link=https://a.example/verify?t=1":                                                                                   "https://a.example/verify?t=1",
		"Verify: https://bücher.example/verify?t=1":                                                                                   "https://bücher.example/verify?t=1",
		"Verify: ftp://a.example/verify?t=1 kim@a.example":                                                                            "",
	} {
		got := Extract(Mail{Subject: "Verify your address", Text: text}).Links
		if strings.Join(got, " ") != want {
			t.Errorf("Extract(%q).Links = %q, want %q", text, got, want)
		}
	}
}
