package mailauth_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailauth"
)

const us = "mx.gonebox.localhost"

func TestStripForged(t *testing.T) {
	tests := []struct {
		name, field string
		forged      bool
	}{
		{"plain", "Authentication-Results: mx.gonebox.localhost; spf=pass\r\n", true},
		{"odd case", "AUTHENTICATION-results: MX.Gonebox.LocalHost; spf=pass\r\n", true},
		{"no space", "Authentication-Results:mx.gonebox.localhost;spf=pass\r\n", true},
		{"space before the colon", "Authentication-Results \t: mx.gonebox.localhost; spf=pass\r\n", true},
		{"folded", "Authentication-Results:\r\n mx.gonebox.localhost;\r\n\tspf=pass\r\n", true},
		{"folded twice", "Authentication-Results:\r\n \r\n\tmx.gonebox.localhost; spf=pass\r\n", true},
		{"version", "Authentication-Results: mx.gonebox.localhost 1; spf=pass\r\n", true},
		{"comment before", "Authentication-Results: (no) mx.gonebox.localhost; spf=pass\r\n", true},
		{"nested comments", "Authentication-Results: (a (b\\) c) (d)) (e)\r\n (f) mx.gonebox.localhost; spf=pass\r\n", true},
		{"comment without end", "Authentication-Results: (( mx.gonebox.localhost; spf=pass\r\n", true},
		{"comment behind", "Authentication-Results: mx.gonebox.localhost(x); spf=pass\r\n", true},
		{"quoted", "Authentication-Results: \"mx.gonebox.localhost\"; spf=pass\r\n", true},
		{"quoted with pairs", "Authentication-Results: \"m\\x.gonebox.localhost\"; spf=pass\r\n", true},
		{"quoted and folded", "Authentication-Results: \"\r\n mx.gonebox.localhost\" ; spf=pass\r\n", true},
		{"final dot", "Authentication-Results: mx.gonebox.localhost.; spf=pass\r\n", true},
		{"no result", "Authentication-Results: mx.gonebox.localhost; none\r\n", true},
		{"nothing behind", "Authentication-Results: mx.gonebox.localhost\r\n", true},
		{"bare LF", "Authentication-Results: mx.gonebox.localhost; spf=pass\n", true},

		{"another server", "Authentication-Results: mx.other.example; spf=pass\r\n", false},
		{"longer name", "Authentication-Results: mx.gonebox.localhost.example; spf=pass\r\n", false},
		{"shorter name", "Authentication-Results: gonebox.localhost; spf=pass\r\n", false},
		{"name in a comment only", "Authentication-Results: (mx.gonebox.localhost) mx.other.example; spf=pass\r\n", false},
		{"name in a result only", "Authentication-Results: mx.other.example; spf=pass smtp.helo=mx.gonebox.localhost\r\n", false},
		{"another field", "ARC-Authentication-Results: i=1; mx.gonebox.localhost; spf=pass\r\n", false},
		{"longer field", "Authentication-Results-Original: mx.gonebox.localhost; spf=pass\r\n", false},
		{"within another field", "X-Note: a\r\n Authentication-Results: mx.gonebox.localhost; spf=pass\r\n", false},
		{"empty", "Authentication-Results:\r\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const before, after = "Received: from x\r\n by y\r\n", "From: a@b.example\r\n\r\nAuthentication-Results: mx.gonebox.localhost; body\r\n"
			raw := []byte(before + tt.field + after)
			want := string(raw)
			if tt.forged {
				want = before + after
			}
			got := mailauth.StripForged(raw, us)
			if string(got) != want {
				t.Errorf("StripForged = %q\nwant %q", got, want)
			}
			if !tt.forged && &got[0] != &raw[0] {
				t.Error("StripForged copied a message without forged fields, want the same slice")
			}
		})
	}
}

func TestStripForgedSeveral(t *testing.T) {
	const forged = "Authentication-Results: mx.gonebox.localhost; spf=pass\r\n"
	raw := forged + "A: 1\r\n" + forged + forged + "junk without a colon\r\nB: 2\r\n" + forged
	if got := string(mailauth.StripForged([]byte(raw+"\r\n"), us)); got != "A: 1\r\njunk without a colon\r\nB: 2\r\n\r\n" {
		t.Errorf(`got %q, want "A: 1\r\njunk without a colon\r\nB: 2\r\n\r\n"`, got)
	}
	if got := string(mailauth.StripForged([]byte(forged+"\r\n"+forged+forged+"\r\nbody"), us)); got != "\r\n\r\nbody" {
		t.Errorf(`nothing but forged fields: %q, want "\r\n\r\nbody"`, got)
	}
	if got := mailauth.StripForged([]byte(forged), us); len(got) != 0 {
		t.Errorf("StripForged of a header without an end = %q, want nothing left", got)
	}
	if got := mailauth.StripForged(nil, us); len(got) != 0 {
		t.Errorf("StripForged of nothing = %q, want nothing", got)
	}
}

// TestStripForgedEverywhere holds that no field is out of reach that a reader of mail takes for one of the header's.
func TestStripForgedEverywhere(t *testing.T) {
	const forged = "Authentication-Results: mx.gonebox.localhost; spf=pass\r\n"
	for name, before := range map[string]string{
		"byte order mark": "\uFEFF", "blank lines": "\r\n\r\n", "both": "\uFEFF\r\n", "mbox": "From a@b Mon Mar 3\r\n",
		"stray lines": "A: b\r\nstray\r\n\tfold\r\nstray\r\n", "fold without a field": " fold\r\n",
	} {
		raw := before + forged + "Subject: s\r\n\r\n" + forged
		want := before + "Subject: s\r\n\r\n" + forged
		if got := string(mailauth.StripForged([]byte(raw), us)); got != want {
			t.Errorf("%s: StripForged = %q, want %q", name, got, want)
		}
	}
}

func TestStripForgedIsLinear(t *testing.T) {
	raw := []byte("Authentication-Results: " + strings.Repeat("(", 1<<20) + "x\r\n\r\n")
	if got := mailauth.StripForged(raw, us); len(got) != len(raw) {
		t.Errorf("StripForged left %d octets, want all %d", len(got), len(raw))
	}
}

func FuzzStripForged(f *testing.F) {
	for _, s := range []string{
		"", "\r\n", "A: b\r\n\r\nc", "Authentication-Results: mx.gonebox.localhost; spf=pass\r\n\r\nx",
		"Authentication-Results: (\\\r\n (\"mx.gonebox.localhost\r\n", " Authentication-Results: mx.gonebox.localhost",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		got := mailauth.StripForged(raw, us)
		if !bytes.Equal(raw, before) {
			t.Fatalf("StripForged changed its argument to %q, want %q as before", raw, before)
		}
		if len(got) > len(raw) {
			t.Fatalf("StripForged(%q) = %q, want no more octets than before", raw, got)
		}
		if again := mailauth.StripForged(got, us); len(again) != len(got) {
			t.Errorf("a second time removes more: %q then %q, want %v", got, again, len(got))
		}
	})
}
