package message

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDetailRoundTrip(t *testing.T) {
	for name, d := range map[string]detail{
		"empty": {},
		"all": {
			CC: []Address{{"Ann", "ann@example.org"}}, MessageID: "x@y", Headers: []Header{{"Subject", "<a> & b"}}, TLS: true,
			Attachments: []Attachment{
				{ID: "att_1", Filename: "a.pdf", ContentType: "application/pdf", Size: 1 << 40, SHA256: "00ff", Available: true},
				{Inline: true, ContentID: new("cid")},
			}, ReplyTo: []Address{{"", "b@example.org"}, {"C", ""}}, EnvelopeFrom: "e@example.org", Authentication: Authentication{SPF: "pass"}, Helo: "h", RemoteIP: "192.0.2.1",
			Text: strings.Repeat("Grüße 你好\n", 500), HTML: strings.Repeat("<p>\x00&amp;</p>", 500),
		},
		"more than the summary": {Text: "short", Uncut: &uncut{Subject: strings.Repeat("x", 2000), From: Address{"Ann", "ann@example.org"}, To: []Address{{"B", "b@example.org"}}}},
		"text alone":            {Text: "short"},
		"html alone":            {HTML: "<b>short</b>"},
	} {
		back, err := parseDetail(d.plain(nil))
		if err != nil || !cmp.Equal(back, d) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(d, back))
		}
	}
}

// A row that a disk has damaged is an error, never a panic.
func FuzzUnpackDetail(f *testing.F) {
	plain := (&detail{
		Text: "text", HTML: "<p>", Helo: "h", Headers: []Header{{"A", "b"}}, Attachments: []Attachment{{Filename: "f"}},
	}).plain(nil)
	f.Add([]byte(plain))
	f.Add(append([]byte{2}, plain[1:]...))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 2, 3})
	f.Fuzz(func(t *testing.T, plain []byte) {
		d, err := parseDetail(plain)
		if err == nil && !(bytes.Contains(plain, []byte(d.Text)) && bytes.HasSuffix(plain, []byte(d.HTML))) {
			t.Errorf("%q gave text %q and HTML %q", plain, d.Text, d.HTML)
		}
	})
}
