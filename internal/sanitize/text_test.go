package sanitize_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/sanitize"
)

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a b", "a b"},
		{"white space", " a \n\t b&nbsp;&#160;c&emsp;d ", "a b c d"},
		{"blocks", "a<div>b</div>c<p>d</p><p>e</p><h1>f</h1>g", "a\nb\nc\nd\ne\nf\ng"},
		{"nested blocks", "<div><div><div>a</div></div></div><div>b</div>", "a\nb"},
		{"inline", "a<b>b</b><i>c</i> <span>d</span>", "abc d"},
		{"line breaks", "a<br>b<br/>c<br><br>d<br><br><br><br>e", "a\nb\nc\n\nd\n\ne"},
		{"cells", "<table><tr><td>a</td><td>b</td></tr><tr><th>c<td>d</table>e", "a b\nc d\ne"},
		{"lists", "<ul><li>a<li>b</ul>c", "a\nb\nc"},
		{"links", `<a href="https://a.example">here</a>`, "here"},
		{"entities", "&lt;b&gt; &amp; &eacute; &#8364; &#x20AC; &copy &unknown;", "<b> & é € € © &unknown;"},
		{"entity within a code", "12&#51;4", "1234"},
		{"head", "<head><title>no</title><style>p{}</style></head><body>a", "a"},
		{"head left open", "<head><meta><body>a", "a"},
		{"title", "<title>no</title>a", "a"},
		{"script", "a<script>if (a<b) { '</scrip' }</script>b", "ab"},
		{"script left open", "a<script>b", "a"},
		{"style", "a<STYLE>p > b {}</STYLE >b", "ab"},
		{"comments", "a<!-- > b -->c<!---->d<!-->e<!--->f<!-- --!>g", "acdefg"},
		{"comment left open", "a<!-- b --", "a"},
		{"conditional comments", "<!--[if mso]>no<![endif]-->a<![if !mso]>b<![endif]>c", "abc"},
		{"declarations", "<!DOCTYPE html><?xml version='1.0'?>a</ x>b", "ab"},
		{"not tags", "1 < 2 <3 a<", "1 < 2 <3 a<"},
		{"a tag left open", "a<b", "a"},
		{"a value left open", `a<b title="x>y`, "a"},
		{"> in a value", `<a title="x>y" alt='>'>b</a>`, "b"},
		{"hidden", `a<div style="color:red; DISPLAY : None !important">no<div>no</div>no</div>b`, "a\nb"},
		{"invisible", `a<span style="visibility:hidden">no</span>b`, "ab"},
		{"hidden attribute", `a<p hidden>no</p>b`, "a\nb"},
		{"not hidden", `<p style="display:block;x:none">a</p>`, "a"},
		{"hidden void", `a<img style="display:none">b`, "ab"},
		{"svg and others", `a<svg><text>no</text></svg><select><option>no</select><noscript>no</noscript>b`, "ab"},
		{"textarea", "<textarea>a <b></textarea>", "a <b>"},
		{"pre", "<pre>a  b\n\nc</pre>d", "a b\n\nc\nd"},
		{"fillers", "a\u200bb\u00adc&zwnj;&nbsp;&zwnj;&nbsp;&#847; d", "abc\u200c d"},
		{"joined emoji", "👨\u200d👩", "👨\u200d👩"},
		{"control characters", "a\x00b\x07c&#1;", "abc"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"nothing", "<p> </p>", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sanitize.Text(tt.in); got != tt.want {
				t.Errorf("%q\ngot  %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	const src = `<a href="https://a.example/1?x=1&amp;y=2">x</a><A HREF='http://b.example'>y</A><a href=https://a.example/1?x=1&y=2>z</a>
		<a href="mailto:x@y.example">m</a><a href="javascript:alert(1)">j</a><a href="/relative">r</a><a name=x>n</a>
		<!-- <a href="https://comment.example">c</a> --><script>'<a href="https://script.example">'</script>
		<area href="https://c.example"><img src="https://i.example"><link href="https://l.example">
		<a href="//d.example">d</a><a href=" https://e.example/a b ">e</a><a title=">" href="HTTPS://F.example">f</a>
		<a href="https://g.example/?a=1&copy=2&lt">g</a>`
	want := []string{
		"https://a.example/1?x=1&y=2", "http://b.example", "https://c.example", "https://d.example", "https://e.example/a%20b",
		"https://F.example", "https://g.example/?a=1&copy=2<",
	}
	if got := sanitize.Links(src, 50); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := sanitize.Links(src, 2); !slices.Equal(got, want[:2]) {
		t.Errorf("at most two: %q", got)
	}
	if got := sanitize.Links(src, 0); len(got) != 0 {
		t.Errorf("none: %q", got)
	}
}

func FuzzText(f *testing.F) {
	for _, bodies := range hostile {
		for _, b := range bodies {
			f.Add(b)
		}
	}
	f.Add(letter(1000))
	f.Fuzz(func(t *testing.T, src string) {
		got := sanitize.Text(src)
		if !utf8.ValidString(got) || strings.TrimSpace(got) != got && strings.Trim(got, " \n") != got {
			t.Errorf("%q", got)
		}
		if strings.Contains(got, "\n\n\n") || strings.Contains(got, "  ") || strings.ContainsAny(got, "\r\x00\t") {
			t.Errorf("%q", got)
		}
		if plain := sanitize.Text(html.EscapeString(got)); strings.Join(strings.Fields(plain), " ") != strings.Join(strings.Fields(got), " ") {
			t.Errorf("%q reads %q", got, plain)
		}
	})
}

func FuzzLinks(f *testing.F) {
	for _, bodies := range hostile {
		for _, b := range bodies {
			f.Add(b)
		}
	}
	f.Add(`<a href="https://a.example">x</a><!-- --!><a/href = 'https://b.example'x>`)
	f.Fuzz(func(t *testing.T, src string) {
		seen := make(map[string]bool)
		for _, l := range sanitize.Links(src, 100) {
			if seen[l] || !strings.HasPrefix(l, "http://") && !strings.HasPrefix(l, "https://") || strings.ContainsAny(l, " \t\r\n") {
				t.Errorf("%q", l)
			}
			seen[l] = true
		}
		if len(seen) > 100 {
			t.Errorf("%d links", len(seen))
		}
	})
}
