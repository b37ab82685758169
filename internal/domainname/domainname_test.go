package domainname_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"

	"github.com/gonebox/gonebox/internal/domainname"
)

func TestMailDomains(t *testing.T) {
	for text, want := range map[string]string{
		"box.example.org": "box.example.org", "Box.Example.ORG.": "box.example.org", "bücher.de": "xn--bcher-kva.de", "ＷＩＤＥ.net": "wide.net",
		"example.net": "example.net", "gonebox.localhost": "gonebox.localhost", "mail.test": "mail.test", "a.internal": "a.internal",
		"mx.home.arpa": "mx.home.arpa", "a.local": "a.local", "host.corp": "host.corp", "mine.github.io": "mine.github.io", "www.ck": "www.ck",
		"1.example": "1.example", "xn--bcher-kva.ch": "xn--bcher-kva.ch", "a-b.example": "a-b.example",
	} {
		if got, err := domainname.ForMail(text); got != want || err != nil {
			t.Errorf("ForMail(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestUnusableMailDomains(t *testing.T) {
	for text, want := range map[string]string{
		"": "is not a domain name", ".": "has an empty label|is not a domain name", "-a.example": "is not a domain name", "a\xff.example": "is not a domain name",
		"xn--a.example": "is not a domain name", strings.Repeat("a", 64) + ".example": "is not a domain name",
		`["a.example.net"]`: "brackets or quotes", "'a.example.net'": "brackets or quotes", "{a.example.net}": "brackets or quotes", `"a.example.net`: "brackets or quotes",
		"user@a.example.net": "is a mail address", "@a.example.net": "is a mail address",
		"http://a.example.net": "is a URL", "smtp://a.example.net:25": "is a URL", "a.example.net/x": "has a slash",
		"*.example.net": "wildcard", "a_b.example.net": "underscore", "_dmarc.example.net": "underscore", "a.example.net:25": "has a port",
		"a.example.net b.example.net": "white space", "a..example.net": "empty label", ".example.net": "empty label", "a.example.net..": "empty label",
		"nodot": "single label", "localhost": "single label", "com": "single label", "COM.": "single label",
		"co.uk": "public suffix", "github.io": "public suffix", "any.ck": "public suffix", "xn--55qx5d.cn": "public suffix",
		"1.2.3.4": "IP address", "[1.2.3.4]": "IP address", "2001:db8::1": "IP address", "[IPv6:::1]": "IP address", "::ffff:1.2.3.4": "IP address",
		"1.2.3.4.": "ends like an IP address", "1.2.3": "ends like an IP address", "host.0x7f": "ends like an IP address", "a.example.1": "ends like an IP address",
	} {
		_, err := domainname.ForMail(text)
		e, ok := errors.AsType[*domainname.Error](err)
		if !ok || !containsOneOf(e.Reason, want) {
			t.Errorf("ForMail(%q): error %v, want one with %q", text, err, want)
		}
	}
}

// containsOneOf reports whether a text contains one of several, which are separated by bars.
func containsOneOf(text, wanted string) bool {
	for one := range strings.SplitSeq(wanted, "|") {
		if strings.Contains(text, one) {
			return true
		}
	}
	return false
}

func TestSinkDomains(t *testing.T) {
	for _, text := range []string{"app", "mail", "localhost", "company.test", "a.example.net", "shop-1"} {
		if got, err := domainname.ForSink(text); got != text || err != nil {
			t.Errorf("ForSink(%q) = %q, %v, want the name itself", text, got, err)
		}
	}
	for _, text := range []string{"", "com", "org", "co.uk", "1.2.3.4", "127", "a_b", "app:25", "*.test", "user@app", "http://app", `["app"]`} {
		if got, err := domainname.ForSink(text); err == nil {
			t.Errorf("ForSink(%q) = %q, want an error", text, got)
		}
	}
}

func TestSpecialUse(t *testing.T) {
	for name, want := range map[string]bool{
		"example.com": true, "a.example.com": true, "test": true, "a.b.test": true, "gonebox.localhost": true, "x.home.arpa": true,
		"contest": false, "a.contest": false, "myexample.com": false, "gonebox.dev": false,
	} {
		if got := domainname.IsSpecialUse(name); got != want {
			t.Errorf("IsSpecialUse(%q) = %v, want %v", name, got, want)
		}
	}
}

// What ForMail accepts is a valid name of two labels or more, below a public suffix, and is accepted again unchanged.
func FuzzForMail(f *testing.F) {
	for _, seed := range []string{
		"box.example.org", "bücher.de", "XN--BCHER-KVA.de.", "192.0.2.1", "[IPv6:::1]", "co.uk", "a..b", "例え。jp", "ß.de", "a\u00ad.de", "0x1.0x2", "\u2024.de", `["a.example"]`, "a:1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := domainname.ForMail(text)
		if err != nil {
			if e, ok := errors.AsType[*domainname.Error](err); !ok || e.Reason == "" {
				t.Errorf("ForMail(%q): error %#v, want an Error with a reason", text, err)
			}
			return
		}
		if again, err := domainname.ForMail(name); again != name || err != nil {
			t.Errorf("ForMail(%q) = %q, and ForMail of that = %q, %v, want the same again", text, name, again, err)
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || len(name) > 253 || !strings.Contains(name, ".") {
			t.Errorf("ForMail(%q) = %q, want lower-case A-labels", text, name)
		}
		if suffix, _ := publicsuffix.PublicSuffix(name); suffix == name {
			t.Errorf("ForMail(%q) = %q, want no public suffix", text, name)
		}
	})
}
