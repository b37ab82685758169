package sanitize_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// sampleMail is a mail of about n bytes in the manner of shops and services: nested tables, inline styles, a hidden preview.
func sampleMail(n int) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html><head><meta charset="utf-8"><title>Your code</title><style>td{color:red}</style></head>` +
		`<body style="margin:0;padding:0;background-color:#f4f4f4" bgcolor="#f4f4f4"><div style="display:none">Preview</div>` +
		`<table width="600" align="center" cellpadding="0" cellspacing="0" border="0">`)
	for i := 0; b.Len() < n; i++ {
		b.WriteString(`<tr><td align="center" valign="top" style="padding:20px 30px;font-family:Arial,Helvetica,sans-serif;` +
			`font-size:14px;line-height:22px;color:#333333">Hello <b>Customer</b>, your code is ` +
			`<span style="font-size:24px;font-weight:bold">482913</span>. It&#39;s valid for ten minutes.<br>` +
			`<a href="https://shop.example/verify?token=` + strconv.Itoa(i) + `&amp;u=1" style="color:#1a73e8;text-decoration:none">Verify</a>` +
			`<img src="https://shop.example/logo.png" width="120" height="40" alt="Logo"></td></tr>`)
	}
	b.WriteString(`</table></body></html>`)
	return b.String()
}

// marketing is a layout of testdata whose content is repeated until there are n bytes.
func marketing(b *testing.B, layout string, n int) string {
	src, err := os.ReadFile("testdata/" + layout + ".in.html")
	if err != nil {
		b.Fatal(err)
	}
	content := strings.LastIndex(string(src[:strings.Index(string(src), "</body>")]), "<body")
	content += strings.Index(string(src[content:]), ">") + 1
	head, rest := string(src[:content]), string(src[content:])
	body, end, _ := strings.Cut(rest, "</body>")
	return head + strings.Repeat(body, (n-len(src))/len(body)+1) + "</body>" + end
}

// BenchmarkLayouts reads mails whose looks stand in style elements: in foundation nearly all of them, in mjml few.
func BenchmarkLayouts(b *testing.B) {
	for _, layout := range []string{"foundation", "mjml", "newsletter"} {
		b.Run(layout, func(b *testing.B) {
			src := marketing(b, layout, 100<<10)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				sanitize.HTML(src, "seed", nil)
			}
		})
	}
}

func benchmark(b *testing.B, n int, f func(string)) {
	src := sampleMail(n)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		f(src)
	}
}

func BenchmarkHTML4KiB(b *testing.B) {
	benchmark(b, 4<<10, func(s string) { sanitize.HTML(s, "seed", nil) })
}

func BenchmarkHTML100KiB(b *testing.B) {
	benchmark(b, 100<<10, func(s string) { sanitize.HTML(s, "seed", nil) })
}
func BenchmarkText4KiB(b *testing.B)   { benchmark(b, 4<<10, func(s string) { sanitize.Text(s) }) }
func BenchmarkText100KiB(b *testing.B) { benchmark(b, 100<<10, func(s string) { sanitize.Text(s) }) }

func BenchmarkLinks4KiB(b *testing.B) { benchmark(b, 4<<10, func(s string) { sanitize.Links(s, 50) }) }

// BenchmarkTextOfDeepHTML reads a body that nests as deep as it can: each tag must cost no more than in a flat one.
func BenchmarkTextOfDeepHTML(b *testing.B) {
	for name, src := range map[string]string{"deep": strings.Repeat("<ul><li>", 32<<10), "flat": strings.Repeat("<ul></ul>", 28<<10)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				sanitize.Text(src)
			}
		})
	}
}
