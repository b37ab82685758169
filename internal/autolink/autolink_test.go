package autolink_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/autolink"
)

// found returns the addresses in text, and checks that each stands where it is said to.
func found(t *testing.T, text string) (urls []string) {
	end := 0
	for l := range autolink.All(text) {
		if l.Start < end || l.End <= l.Start || l.End > len(text) {
			t.Errorf("All(%q) gives %q at %d to %d, want it after %d and within %d octets", text, l.URL, l.Start, l.End, end, len(text))
			return urls
		}
		end = l.End
		urls = append(urls, l.URL)
	}
	return urls
}

func TestAll(t *testing.T) {
	n := 0
	for name, group := range cases {
		t.Run(name, func(t *testing.T) {
			for text, want := range group {
				if got := found(t, text); !slices.Equal(got, strings.Fields(want)) {
					t.Errorf("All(%q)\ngot  %q\nwant %q", text, got, strings.Fields(want))
				}
				// The same holds within a text, unless it is the beginning or the end that matters.
				if got := found(t, "\n"+text+"\n\nBye\n"); !slices.Equal(got, strings.Fields(want)) {
					t.Errorf("All(%q) within a text\ngot  %q\nwant %q", text, got, strings.Fields(want))
				}
			}
		})
		n += len(group)
	}
	if n < 200 {
		t.Errorf("%d cases, want at least 200", n)
	}
}

func TestNextBeginsWhereItIsTold(t *testing.T) {
	const text = "https://a.example/1 and https://b.example/2"
	l, ok := autolink.Next(text, 1)
	if want := (autolink.Link{URL: "https://b.example/2", Start: 24, End: len(text)}); !ok || l != want {
		t.Errorf("Next(%q, 1) = %+v, %v; want %+v, true", text, l, ok, want)
	}
	if l, ok := autolink.Next(text, l.End); ok {
		t.Errorf("Next(%q, %d) = %+v, true; want none", text, len(text), l)
	}
}

func TestAddressesOfMoreThan8KiBAreLeftOut(t *testing.T) {
	for _, text := range []string{
		"https://a.example/" + strings.Repeat("x", 9<<10) + " https://b.example",
		"<https://a.example/" + strings.Repeat("x", 9<<10) + "> https://b.example",
	} {
		if got := found(t, text); !slices.Equal(got, []string{"https://b.example"}) {
			t.Errorf("All(%.40q…) gives %.80q, want https://b.example alone", text, got)
		}
	}
}

// TestHostileTextIsRead takes some ten milliseconds for each text, since reading one is linear. A search that is not would run into the time
// limit of the test.
func TestHostileTextIsRead(t *testing.T) {
	for _, piece := range []string{
		"http://", "<http://", "<URL:http://a.example/\n", "http://a.example/" + strings.Repeat(")", 64), "https://a@", "http://a.example/请", "://", "&",
		"https://a.example/?" + strings.Repeat("(", 200) + strings.Repeat("请", 50), "http://[::", "https://日", "https://a.b日", "https://a.example/\u200b", "https://a.example/;",
	} {
		for _, join := range []string{"", " "} {
			found(t, strings.Repeat(piece+join, (1<<20)/len(piece+join)))
		}
	}
}

func FuzzAll(f *testing.F) {
	for _, group := range cases {
		for text := range group {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, url := range found(t, text) {
			scheme, rest, ok := strings.Cut(url, "://")
			if !ok || scheme != "http" && scheme != "https" || rest == "" {
				t.Errorf("All(%q) gives %q, want an address of http or https", text, url)
			}
			if strings.ContainsAny(url, " \t\r\n\v\f<>\"`\\|\u00a0\u3000\u200b\u2060\ufeff") || utf8.ValidString(text) && !utf8.ValidString(url) {
				t.Errorf("All(%q) gives %q, want no white space, quotes or invalid UTF-8 in it", text, url)
			}
			// In angle brackets, an address is read as it is.
			if got := found(t, "<"+url+">"); len(got) != 1 || got[0] != url {
				t.Errorf("All(%q) gives %q in angle brackets, want %q alone", "<"+url+">", got, url)
			}
		}
	})
}
