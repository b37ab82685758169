package message

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/original"
)

func TestDetailComesBackAsItWas(t *testing.T) {
	for name, d := range map[string]detail{
		"empty": {},
		"all": {
			CC: []Address{{"Ann", "ann@example.org"}}, MessageID: "x@y", Headers: []Header{{"Subject", "<a> & b"}}, TLS: true,
			Attachments: []Attachment{{Filename: "a.pdf", Size: 3}}, Authentication: Authentication{SPF: "pass"}, Helo: "h", RemoteIP: "192.0.2.1",
			Text: strings.Repeat("Grüße 你好\n", 500), HTML: strings.Repeat("<p>\x00&amp;</p>", 500),
		},
		"text alone": {Text: "short"},
		"html alone": {HTML: "<b>short</b>"},
	} {
		packed, err := d.pack()
		if err != nil {
			t.Fatal(err)
		}
		back, err := unpackDetail(packed)
		if err != nil || !cmp.Equal(back, d) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(d, back))
		}
	}
}

// A row that a disk has damaged is an error, never a panic.
func FuzzUnpackDetail(f *testing.F) {
	whole, err := (&detail{Text: "text", HTML: "<p>", Helo: "h"}).pack()
	if err != nil {
		f.Fatal(err)
	}
	plain, _ := original.Decompress(whole)
	f.Add(plain)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, '{', '}'})
	f.Fuzz(func(t *testing.T, plain []byte) {
		d, err := unpackDetail(original.Compress(nil, plain))
		if err == nil && !bytes.HasSuffix(plain, []byte(d.Text+d.HTML)) {
			t.Errorf("%q gave text %q and HTML %q", plain, d.Text, d.HTML)
		}
	})
}
