package mcp

import (
	"strings"
	"testing"
)

func TestSuspiciousLinksHaveWarnings(t *testing.T) {
	for address, want := range map[string]struct{ host, warning string }{
		"https://shop.example/a?b=c":           {"shop.example", ""},
		"https://SHOP.example:8443/":           {"shop.example", ""},
		"https://xn--bnk-5cd.example/":         {"xn--bnk-5cd.example", warnPunycode},
		"https://bаnk.example/":                {"xn--bnk-6cd.example", warnPunycode}, // a Cyrillic letter
		"https://bank.example@evil.example/":   {"evil.example", warnUserInfo},
		"https://192.0.2.1/":                   {"192.0.2.1", warnAddress},
		"https://[2001:db8::1]/":               {"2001:db8::1", warnAddress},
		"http://shop.example/":                 {},
		"javascript:alert(1)":                  {},
		"https://":                             {},
		"https:shop.example":                   {},
		"ftp://shop.example/":                  {},
		"https://a b.example/":                 {},
		"https://shop.example/\x00":            {},
		"https://" + strings.Repeat("a", 3000): {strings.Repeat("a", 3000), ""},
	} {
		l, ok := newLink(address)
		if ok != (want.host != "") || l.Host != want.host || l.Warning != want.warning {
			t.Errorf(`newLink(address) = %.100q: %.200v, %t, want %v, Host %v and Warning %v`, address, l, ok, want.host != "", want.host, want.warning)
		}
	}
}

func TestTextOfLinkThatNamesAnotherHost(t *testing.T) {
	for text, want := range map[string]bool{
		"Verify": false, "shop.example": false, "https://www.shop.example/verify": false, "Go to SHOP.example.": false, "verify at mail.shop.example": true,
		"https://bank.example": true, "bank.example/login": true, "www.bank.example": true, "Version 1.2": false, "e.g. this": false, "me@bank.example": true,
		"bank.example or shop.example": false, "": false,
	} {
		if got := namesOtherHost(text, "shop.example"); got != want {
			t.Errorf(`%q: namesOtherHost(text, "shop.example") = %t, want %v`, text, got, want)
		}
	}
}

func TestDeceptiveTargets(t *testing.T) {
	got := deceptiveTargets(`<a href="https://evil.example/"><b>https://</b>bank.example</a><a href="https://shop.example/">shop</a><a>bank.example</a>`)
	if len(got) != 1 || !got["https://evil.example/"] {
		t.Errorf("deceptiveTargets of a page with one deceptive link = %v, want https://evil.example/ alone", got)
	}
}

func FuzzRanked(f *testing.F) {
	f.Add("see https://shop.example/verify", `<a href="https://evil.example">bank.example</a>`)
	f.Add("", `<a href="https://a@b.example/?q=x y">`)
	f.Fuzz(func(t *testing.T, text, source string) {
		m := fullMessage{Text: text, HTML: &source, Links: strings.Fields(text)}
		for _, l := range m.rankedLinks() {
			if !strings.HasPrefix(l.URL, "https://") || l.Host == "" || strings.ContainsAny(l.URL+l.Host, "\n\r\x00 ") {
				t.Errorf("rankedLinks has %+v, want an address of https with its host, without line ends, spaces and NUL", l)
			}
		}
	})
}
