package sanitize_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/sanitize"
)

var scale = flag.Int("scale", 64, "the bombs are this many times smaller than mail can be")

// bombs are bodies made to cost more than their length.
func bombs() map[string]string {
	rep := func(s string, n int) string {
		if n > 5000 { // below that the number matters, not the size
			n /= *scale
		}
		return strings.Repeat(s, n)
	}
	var fonts, attrs, entities strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&fonts, "<font size=%d color=c%d>", i, i)
	}
	for i := range 200_000 / *scale {
		fmt.Fprintf(&attrs, " a%d=x", i)
	}
	for range 300_000 / *scale {
		entities.WriteString("&CounterClockwiseContourIntegral;")
	}
	var rules, media strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&rules, ".c%d b,p .d>.e .c%d *{padding-left:%dpx;color:red}", i, i, i)
		fmt.Fprintf(&media, "@media (max-width:%dpx){*{padding:%dpx}}", i, i)
	}
	return map[string]string{
		"a million divs":             rep("<div>", 1_000_000),
		"a million divs, closed":     rep("<div>", 1_000_000) + rep("</div>", 1_000_000),
		"a million closing tags":     rep("</p>", 1_000_000),
		"as deep as it goes":         rep("<div>", 500) + "x" + rep("</div>", 500),
		"siblings up to the limit":   rep("<p>x", 40_000),
		"formatting left open":       fonts.String() + rep("<p>x", 2000),
		"few formatting, many p":     rep("<b><i><u><em>", 3) + rep("<p>x</p>", 9_000),
		"formatting in small mail":   rep("<b x>", 400) + rep("<p>", 2000),
		"nested tables":              rep("<table><tr><td>", 5000),
		"text in tables":             "<table>" + rep("x<tr>", 100_000),
		"nested links":               rep("<a href=https://a.example>", 100_000),
		"attributes":                 "<p" + attrs.String() + ">x",
		"attributes on bodies":       rep("<body"+attrs.String()[:100_000 / *scale]+">", 30),
		"many bodies":                rep("<body x>", 100_000),
		"one attribute, huge":        `<p title="` + rep("x", 20<<20) + `">text`,
		"one attribute, large":       `<a href="https://a.example/` + rep("&amp;", 600<<10) + `">text`,
		"one style, large":           `<p style="` + rep("color:red;", 300<<10) + `">text`,
		"styles":                     rep(`<p style="`+rep("color:rgb(1,2,3);", 480)+`">`, 480 / *scale),
		"an image, large":            `<img src="data:image/png;base64,` + rep("A", 3<<20) + `">text`,
		"text, huge":                 rep("words and ", 2<<20),
		"text, large":                rep("a<b ", 700<<10),
		"lines, huge":                rep("<br>x", 4<<20),
		"entities":                   entities.String(),
		"quotes":                     rep(`"'`, 2<<20),
		"a comment without end":      rep("<!--", 1<<20),
		"less-than signs":            rep("<", 4<<20),
		"tags never closed":          rep("<p ", 1<<20),
		"a script without end":       "<script>" + rep("<!--<script>", 300<<10),
		"raw text that does not end": rep("<title><textarea><style></", 100<<10),
		"foreign content":            rep("<svg><math><mi><p>", 20_000),
		"templates":                  rep("<template><table><tr>", 20_000),
		"selects":                    rep("<select><option>", 50_000),
		"lists":                      rep("<ul><li>", 50_000),
		"NULs":                       rep("\x00", 4<<20),
		"not UTF-8":                  rep("\xff", 4<<20),
		"images":                     rep(`<img src="cid:a">`, 40_000),
		"rules for everything":       "<style>" + rep("*{color:red}", 20_000) + "</style>" + rep("<p>x", 40_000),
		"long rules":                 "<style>*{" + rep("padding-left:1px;", 10_000) + "}</style>" + rep("<p>x", 40_000),
		"a long value":               "<style>*{font-family:" + rep("x", 7_000) + "}</style>" + rep("<p>x", 40_000),
		"many selectors":             "<style>" + rep("*,", 100_000) + "*{color:red}</style>" + rep("<p>x", 40_000),
		"deep selectors":             "<style>" + rep("div div div div div>p,", 8_000) + "b{color:red}</style>" + rep("<div>", 400) + rep("<p>x</p>", 20_000),
		"many classes":               "<style>" + rules.String() + "</style>" + rep(`<p class="`+rep("c1 c2 c3 ", 4000)+`"><b>x</b>`, 600),
		"media rules":                "<style>" + media.String() + "</style>" + rep("<p style=padding-left:1px>x", 20_000),
		"media rules, long":          "<style>@media (max-width:1px){*{" + rep("padding:1px;", 10_000) + "}}</style>" + rep("<p style="+rep("padding-left:1px;", 350)+">x", 600),
		"many media rules":           "<style>" + rep("@media (max-width:1px){p{width:1px}}", 100_000) + "</style>" + rep("<p>x", 20_000),
		"brackets":                   "<style>" + rep("{", 4<<20) + "</style><p>x",
		"brackets and rules":         "<style>" + rep("a{(", 80_000) + "</style><p>x",
		"comments in style":          "<style>" + rep("/*", 100_000) + "</style>" + "<style>" + rep("/**/", 60_000) + "b{}</style><b>x",
		"quotes in style":            "<style>" + rep(`"'`, 100_000) + "</style><b>x",
		"at-rules":                   "<style>" + rep("@x", 100_000) + "</style><style>" + rep("@x;", 80_000) + "</style><b>x",
		"nested media rules":         "<style>" + rep("@media screen{", 15_000) + "b{color:red}</style><b>x",
		"queries":                    "<style>@media " + rep("(max-width:1px),", 15_000) + "screen{b{color:red}}</style><b>x",
		"attributes to match":        "<style>" + rep("[a1=x][a2=x],", 8_000) + "b{color:red}</style>" + rep("<p"+attrs.String()[:2000 / *scale]+">", 2_000),
		"siblings to look for":       "<style>" + rep("b:last-child,", 8_000) + "b{color:red}</style>" + rep("<b>x</b>"+rep("<!---->", 500), 100),
		"many style elements":        rep("<style>b{color:red}</style>", 30_000) + "<b>x",
	}
}

// TestCostIsBounded counts what is allocated in all, which is more than is ever in use at once. Run it with -scale 1 -v to
// see time and memory for the largest mails.
func TestCostIsBounded(t *testing.T) {
	big := pad(png, max(512<<10 / *scale / *scale, 16))
	image := func(string, int) (string, []byte, bool) { return "image/png", big, true }
	for name, src := range bombs() {
		t.Run(name, func(t *testing.T) {
			for _, f := range []struct {
				name  string
				limit uint64
				run   func() string
			}{
				{"HTML", 112 << 20, func() string { return sanitize.HTML(src, "seed", image) }},
				{"Text", 100 << 20, func() string { return sanitize.Text(src) }},
				{"Links", 100 << 20, func() string { return fmt.Sprint(sanitize.Links(src, 100)) }},
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := time.Now()
				out := f.run()
				took := time.Since(began)
				runtime.ReadMemStats(&after)
				used := after.TotalAlloc - before.TotalAlloc
				t.Logf("%s: %d bytes to %d in %v, %d MiB", f.name, len(src), len(out), took, used>>20) // -v shows the time
				if used > f.limit {
					t.Errorf("%s allocates %d MiB, want at most %v", f.name, used>>20, f.limit)
				}
			}
		})
	}
}
