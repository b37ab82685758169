package release_test

import (
	"net/mail"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/release"
)

func TestPlainAddresses(t *testing.T) {
	for _, text := range []string{"a@b", "ada@example.org", "Ada.Lovelace+x=y@mail.example-1.org", "o'neil&co@example.org", strings.Repeat("a", 64) + "@example.org", "a@xn--bcher-kva.example", "1@2.example"} {
		if !release.IsPlain(text) {
			t.Errorf("IsPlain(%q) = false, want true", text)
		}
	}
	for _, text := range []string{"", "@", "a@", "@b", "a b@c", "a@b c", "a@b@c", "a%b@c", "a!b@c", "a/b@c", "|a@b", "-a@b", `"a"@b`, "a@[1.2.3.4]", "a@1.2.3.4", "a@b..c", "a@-b", "a@b-", "a@b\r\nc", "a@é", "é@b", "<a@b>", strings.Repeat("a", 65) + "@b", "a@" + strings.Repeat("b", 64)} {
		if release.IsPlain(text) {
			t.Errorf("IsPlain(%q) = true, want false", text)
		}
	}
}

// A plain address is one that the standard library reads as the same address, with nothing around it.
func FuzzPlainAddresses(f *testing.F) {
	f.Add("a@b")
	f.Add("a\r\n@b")
	f.Fuzz(func(t *testing.T, text string) {
		if !release.IsPlain(text) {
			return
		}
		a, err := mail.ParseAddress(text)
		if err != nil || a.Address != text || a.Name != "" || strings.ContainsAny(text, "\r\n\x00 <>,;:\"()[]%!") {
			t.Errorf("IsPlain(%q) = true, want false, since ParseAddress returns %v, %v", text, a, err)
		}
	})
}

func TestVerdictsOfThisServerAreTakenOff(t *testing.T) {
	const rest = "Received: from x\r\n\tby y\r\nFrom: a@b\r\nReturn-Path: <kept@b>\r\n\r\nReturn-Path: <x>\r\n"
	for raw, want := range map[string]string{
		"Return-Path: <a@b>\r\nAuthentication-Results: y; spf=pass\r\n\tdkim=none\r\n" + rest: rest,
		rest: rest,
		"Return-Path: <a@b>\r\nFrom: c@d\r\n\r\n": "Return-Path: <a@b>\r\nFrom: c@d\r\n\r\n",
		"": "",
	} {
		if got := string(release.WithoutVerdicts([]byte(raw))); got != want {
			t.Errorf("WithoutVerdicts(%q) = %q, want %q", raw, got, want)
		}
	}
}

// Whatever a message is, its octets are not changed but at the beginning.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("Return-Path: <a@b>\r\nAuthentication-Results: y\r\nReceived: z\r\n\r\nx"))
	f.Add([]byte("\n \n:"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := release.WithoutVerdicts(raw); !strings.HasSuffix(string(raw), string(got)) {
			t.Errorf("WithoutVerdicts(%q) = %q, want the end of it", raw, got)
		}
		release.Fields(raw)
	})
}
