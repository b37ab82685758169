package mailcheck_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gonebox/gonebox/internal/mailcheck"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// checker decodes its data once for all tests.
var checker = mailcheck.New()

func features(t testing.TB, src string) *mailcheck.Features {
	t.Helper()
	f, err := checker.Features(src)
	if err != nil {
		t.Fatalf("Features(%.200q): %v", src, err)
	}
	return f
}

// summary is what a golden file has of a mail: its score, then its features.
func summary(f *mailcheck.Features) string {
	var b strings.Builder
	fmt.Fprintf(&b, "score %.1f, elements %d\n", f.Score, f.Elements)
	for _, found := range f.Found {
		fmt.Fprintf(&b, "%s, times %d, line %d\n", found.Slug, found.Times, found.Line)
	}
	return b.String()
}

// templatesPath is the file of mails with their features.
const templatesPath = "testdata/templates.txtar"

// templates reads the mails of testdata, each followed by its golden text.
func templates(t testing.TB) *txtar.Archive {
	t.Helper()
	all, err := txtar.ParseFile(templatesPath)
	if err != nil || len(all.Files) < 60 || len(all.Files)%2 != 0 {
		t.Fatalf("ParseFile(%s): %v, want 30 mails or more and a text for each", templatesPath, err)
	}
	return all
}

// TestFeaturesOfTemplates compares the features of each mail in testdata with its golden text.
func TestFeaturesOfTemplates(t *testing.T) {
	all := templates(t)
	for i := 0; i < len(all.Files); i += 2 {
		mail, golden := all.Files[i], &all.Files[i+1]
		t.Run(mail.Name, func(t *testing.T) {
			got := summary(features(t, string(mail.Data)))
			if *update {
				golden.Data = []byte(got)
			}
			if want := strings.TrimSuffix(mail.Name, ".html") + ".txt"; golden.Name != want {
				t.Fatalf("%s: %s follows %s, want %s", templatesPath, golden.Name, mail.Name, want)
			}
			if diff := cmp.Diff(string(golden.Data), got); diff != "" {
				t.Errorf("Features(%s of %s) (-want +got)\n%s", mail.Name, templatesPath, diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(templatesPath, txtar.Format(all), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFeature tries the forms in which a feature is written.
func TestFeature(t *testing.T) {
	for _, tt := range []struct {
		src, slug string
		times     int // -1: it is not found, 0: it is found and weighs nothing
		line      int
	}{
		{"<p style='display:flex'>a", "css-display-flex", 1, 1},
		{"<p style='DISPLAY : Flex !important'>a", "css-display-flex", 1, 1},
		{"<p style='display:block'>a", "css-display-flex", -1, 0},
		{"<p style='content:\"display:flex\"'>a", "css-display-flex", -1, 0},
		{"<style>\n.a { display: flex }</style>\n<p class=a>a<p class='b a'>b<p>c", "css-display-flex", 2, 2},
		{"<style>.a{display:flex}</style><p>nothing has the class", "css-display-flex", 0, 1},
		{"<style>@media (max-width:1px){.a{display:flex}}</style><p class=a>a", "css-display-flex", 0, 1},
		{"<style media='(max-width:1px)'>.a{display:flex}</style><p class=a>a", "css-display-flex", 0, 1},
		{"<style>*{display:flex}</style><p class=a>a", "css-display-flex", 0, 1},
		{"<style media=screen>p{display:flex}</style><p>a<p>b", "css-display-flex", 2, 1},
		{"<style>p[x*='1']{display:flex}</style><p x=212>a<p>b", "css-display-flex", 1, 1},
		{"<style>/* .a{display:flex} */</style><p class=a>a", "css-display-flex", -1, 0},
		{"<style>.a:hover{display:flex}</style><p class=a>a", "css-display-flex", 0, 1},
		{"<style>.a{.b &{display:flex}}</style><p class=a>a", "css-nesting", 0, 1},
		{"<!-- <p style='display:flex'> --><p>a", "css-display-flex", -1, 0},
		{"<style>p{margin:1rem} p.a{margin:2rem 3rem}</style><p class=a style='margin:4rem'>a<p class=a>b<p>c", "css-unit-rem", 4, 1},
		{"<style>p{color:rgb(1,2,3)}</style><p style='color:red'>a", "css-rgb", 0, 1},
		{"<style>[class=a]{gap:1px}[style*=red]{float:left}</style><p class=a>a<p style='color:red'>b", "css-float", 1, 1},
		{"<tr><td style='float:left'>a</td></tr><p>b", "css-float", -1, 0},
		{"<style>a > b{gap:1px}</style><a><b>x</b><i><b>y</b></i></a>", "css-gap", 1, 1},
		{"<style>a b{gap:1px}</style><a><b>x</b><i><b>y</b></i></a>", "css-gap", 2, 1},
		{"<style>li:first-child{gap:1px}</style><ul><li>a<li>b</ul><ul><li>c</ul>", "css-gap", 2, 1},
		{"<style>li:nth-child(2){gap:1px}</style><ul><li>a<li>b</ul>", "css-gap", 1, 1},
		{"<style>[data-x='1']{gap:1px}</style><p data-x=1>a<p data-x=2>b", "css-gap", 1, 1},
		{"<style>td{gap:1px}</style><table><tr><td>a<td>b</table>", "css-gap", 2, 1},
		{"<style>@media only screen and (max-width:1px){}@media print{}</style><p>a", "css-at-media", 2, 1},
		{"<style>@media (hover){}</style><p>a", "css-at-media-hover", 0, 1},
		{"<style>@font-face{font-family:x}</style><p>a", "css-at-font-face", 1, 1},
		{"<style>@import 'x.css';p{color:red}</style><p>a", "css-at-import", 1, 1},
		{"<style>a::before,a:BEFORE{}</style><p>a", "css-pseudo-element-before", 2, 1},
		{"<style>a:not(:hover){}</style><p>a", "css-pseudo-class-not", 1, 1},
		{"<style>a + b{}</style><p>a", "css-selector-adjacent-sibling", 0, 1},
		{"<style>a.b{}</style><p>a", "css-selector-class", 0, 1},
		{"<style>.a.b{}</style><p>a", "css-selector-chaining", 0, 1},
		{"<p style='margin:1rem 2rem'>a", "css-unit-rem", 2, 1},
		{"<p style='color:#1rem'>a", "css-unit-rem", -1, 0},
		{"<p style='width:calc(1px + 2%)'>a", "css-unit-calc", 1, 1},
		{"<p style='background:url(calc(1px))'>a", "css-unit-calc", -1, 0},
		{"<p style='color:var(--a)'>a", "css-variables", 1, 1},
		{"<p style='background:radial-gradient(red,blue)'>a", "css-radial-gradient", 1, 1},
		{"<p style='background-image:LINEAR-GRADIENT(red,blue)'>a", "css-linear-gradient", 0, 1},
		{"<p style='margin-top:1px'>a", "css-margin", 0, 1},
		{"<input type=CheckBox><input type=submit>", "html-input-checkbox", 1, 1},
		{"<p>\n<a href='#x'>a</a> <a href=' #y'>b</a> <a href='https://a.example/#z'>c</a>", "html-anchor-links", 2, 2},
		{"<img src='https://a.example/b.WEBP?w=1'>", "image-webp", 1, 1},
		{"<img src='data:image/png;base64,AA=='>", "image-base64", 1, 1},
		{"<table border=1><tr><td width=1 bgcolor=red>a<td width=2>b</table>", "css-width", 1, 1},
		{"<script>a</script><script type='application/ld+json'>{}</script>", "html-script", 1, 1},
		{"<noscript><form></form></noscript>", "html-form", 1, 1},
		{"<svg><path d=x /><path d=y /></svg>", "html-svg", 1, 1},
	} {
		times, line := -1, 0
		for _, found := range features(t, tt.src).Found {
			if found.Slug == tt.slug {
				times, line = found.Times, found.Line
			}
		}
		if times != tt.times || line != tt.line {
			t.Errorf("Features(%q): %s is found %d times from line %d on, want %d from %d (-1: not at all)", tt.src, tt.slug, times, line, tt.times, tt.line)
		}
	}
}

// TestElements counts elements as a browser does, which adds some.
func TestElements(t *testing.T) {
	for src, want := range map[string]int{
		"":                    0,
		"text":                0,
		"<p>a<p>b":            2,
		"<style></style><p>a": 1,
		"<p>a<style></style>": 2,
		"<html><head><title></title></head><body><p>a</body></html>": 3,
		"<table><tr><td>a</table>":                                   4,
		"<table><td>a<td>b<tr><td>c</table>":                         7,
		"<table><thead><tr><th>a</table>":                            4,
		"<tr><td>a</td></tr><p>b":                                    1,
		"<br><img><input>":                                           3,
	} {
		if got := features(t, src).Elements; got != want {
			t.Errorf("Features(%q).Elements = %d, want %d", src, got, want)
		}
	}
}

// hostile are pieces that cost much where they are repeated, unless work is bounded.
func hostile() []string {
	return []string{
		"<", "<p>", "<b>", "<table>", "<p style='a:b'>", "<p class='a b c d e f g h'>", "<style>", "<style>a{b:c}</style>", "<style>{", "<style>a{{",
		"<style>a{b{", "<style>a{b{c:d}", "<style>(((", "<style>a:not(", "<style>@media(", "<style>a,", "<style>a b ", "<style>/*", "<style>\"",
		"<svg>", "<script>", "<!--", "&", "\n", "<p a=b c=d>", "<a href=#>", "<img src=x.png>", "<noscript>", "</p>", "<style>a::", "<p style=\"", "url(",
	}
}

// TestHostileHTMLTakesLinearTime repeats pieces up to two sizes, of which the larger must not take much more than its share.
func TestHostileHTMLTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	c := mailcheck.New()
	for _, piece := range hostile() {
		large := strings.Repeat(piece, 1+1<<20/len(piece))
		done := make(chan error, 1)
		go func() { _, err := c.Features(large); done <- err }()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Features of a MiB of %q: %v", piece, err)
			}
		case <-time.After(time.Minute): // it takes milliseconds, and hours if the work grows with the square
			t.Fatalf("Features of a MiB of %q has not returned after a minute, want it within milliseconds", piece)
		}
	}
}

// TestRulesAndElementsAreBounded has as many rules as elements, which all match.
func TestRulesAndElementsAreBounded(t *testing.T) {
	src := "<style>" + strings.Repeat("p p p p p .a, [x] .a {margin:1px 2px}", 8000) + "</style>" + strings.Repeat("<div x=1><p class=a>", 100_000)
	begin := features(t, src)
	if begin.Elements != 200_000 {
		t.Errorf("Features of many rules and elements counts %d elements, want %d", begin.Elements, 200_000)
	}
}

// TestManyPropertiesAreBounded has a rule whose declarations are all of different properties.
func TestManyPropertiesAreBounded(t *testing.T) {
	var rule strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&rule, "a%d:1rem;", i)
	}
	f := features(t, "<style>p{"+rule.String()+"}</style>"+strings.Repeat("<p>", 1000))
	for _, found := range f.Found {
		if found.Slug == "css-unit-rem" && found.Times > 0 {
			return
		}
	}
	t.Errorf("Features of a rule with %d properties = %+v, want css-unit-rem among them", 40_000, f.Found)
}

func FuzzFeatures(f *testing.F) {
	for _, file := range templates(f).Files {
		f.Add(string(file.Data))
	}
	for _, piece := range hostile() {
		f.Add(strings.Repeat(piece, 3))
	}
	c := mailcheck.New()
	f.Fuzz(func(t *testing.T, src string) {
		got, err := c.Features(src)
		if err != nil {
			t.Fatalf("Features(%q): %v", src, err)
		}
		last := 1 + strings.Count(src, "\n")
		for _, found := range got.Found {
			if found.Line < 1 || found.Line > last || found.Times < 0 {
				t.Errorf("Features(%q): %s is found %d times from line %d on, want a line from 1 to %d", src, found.Slug, found.Times, found.Line, last)
			}
		}
		if got.Score < 0 || got.Score > 100 {
			t.Errorf("Features(%q).Score = %v, want 0 to 100", src, got.Score)
		}
		again, err := c.Features(src)
		if err != nil || !slices.EqualFunc(got.Found, again.Found, func(a, b mailcheck.Found) bool { return a == b }) {
			t.Errorf("Features(%q) = %+v, %v the second time, want %+v as the first", src, again.Found, err, got.Found)
		}
	})
}
