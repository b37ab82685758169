package message

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/resource"
)

func TestDetailRoundTrip(t *testing.T) {
	for name, d := range map[string]detail{
		"empty": {},
		"all": {Text: strings.Repeat("Grüße 你好\n", 500), HTML: strings.Repeat("<p>\x00&amp;</p>", 500), Detail: resource.Detail{
			CC: []Address{{Name: "Ann", Address: "ann@example.org"}}, MessageID: "x@y", Headers: []Header{{Name: "Subject", Value: "<a> & b"}}, RawExpiresAt: clock.Micro(0),
			Attachments: []Attachment{
				{ID: "att_1", Filename: "a.pdf", ContentType: "application/pdf", Size: 1 << 40, SHA256: "00ff", Available: true},
				{Inline: true, ContentID: new("cid")},
			}, ReplyTo: []Address{{Name: "", Address: "b@example.org"}, {Name: "C", Address: ""}}, Authentication: Authentication{SPF: "pass"},
			Envelope: Envelope{From: "e@example.org", Helo: "h", RemoteIP: "192.0.2.1", TLS: true},
		}},
		"more than the summary": {Text: "short", Uncut: &uncut{Subject: strings.Repeat("x", 2000), From: Address{Name: "Ann", Address: "ann@example.org"}, To: []Address{{Name: "B", Address: "b@example.org"}}}},
		"text alone":            {Text: "short"},
		"html alone":            {HTML: "<b>short</b>"},
	} {
		d.RawExpiresAt = clock.Micro(0)
		back, err := parseDetail(d.plain(nil))
		if err != nil || !cmp.Equal(back, d) {
			t.Errorf("%s: parseDetail: %v (-want +got):\n%s", name, err, cmp.Diff(d, back))
		}
	}
}

// A row that a disk has damaged is an error, never a panic.
func FuzzUnpackDetail(f *testing.F) {
	d := detail{Text: "text", HTML: "<p>", Detail: resource.Detail{
		Headers: []Header{{Name: "A", Value: "b"}}, Attachments: []Attachment{{Filename: "f"}}, RawExpiresAt: clock.Micro(0),
	}}
	plain := d.plain(nil)
	f.Add(plain)
	f.Add(plain[1:])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 2, 3})
	f.Add([]byte("\x0f{\"textLen\":-1}"))
	f.Fuzz(func(t *testing.T, plain []byte) {
		d, err := parseDetail(plain)
		if err == nil && !(bytes.Contains(plain, []byte(d.Text)) && bytes.HasSuffix(plain, []byte(d.HTML))) {
			t.Errorf("parseDetail(%q) has the text %q and the HTML %q, want both from the input, the HTML at its end", plain, d.Text, d.HTML)
		}
	})
}
