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
		{"blocks", "a<div>b</div>c<p>d</p><p>e</p><h1>f</h1>g", "a\nb\nc\n\nd\n\ne\n\nf\n\ng"},
		{"nested blocks", "<div><div><div>a</div></div></div><div>b</div>", "a\nb"},
		{"inline", "a<b>b</b><i>c</i> <span>d</span>", "abc d"},
		{"line breaks", "a<br>b<br/>c<br><br>d<br><br><br><br>e", "a\nb\nc\n\nd\n\ne"},
		{"cells", "<table><tr><td>a</td><td>b</td></tr><tr><th>c<td>d</table>e", "a b\nc d\ne"},
		{"cells with blocks", "<table><tr><td><p>Subtotal:</p></td><td><div><b>$160</b></div></td></tr><tr><td>Sum:<td>$168</table>", "Subtotal: $160\nSum: $168"},
		{"a cell of several lines", "<table><tr><td><p>a</p><p>b</p></td><td><p>c</p></td></tr></table>", "a\n\nb\n\nc"},
		{"an empty cell", "<table><tr><td>a</td><td></td></tr><tr><td></td><td><p>b</p></td></tr></table>", "a\nb"},
		{"a table in a cell", "<table><tr><td>a</td><td><table><tr><td>b</td><td>c</td></tr><tr><td>d</td></tr></table></td></tr></table>", "a\nb c\nd"},
		{"lists", "<ul><li>a<li>b</ul>c", "- a\n- b\n\nc"},
		{"numbered list", "<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"},
		{"numbers of a list", `<ol start=3><li>a<li value=7>b<li>c</ol><ol type=a><li>d<li>e</ol><ol type=I><li>f<li>g</ol>`, "3. a\n7. b\n8. c\n\na. d\nb. e\n\nI. f\nII. g"},
		{"lists in lists", "<ol><li>a<ul><li>b<li>c</ul><li>d</ol>", "1. a\n  - b\n  - c\n2. d"},
		{"a list without marks", `<ul style="list-style: none"><li>a</li></ul><ul><li style="list-style-type:none">b</li></ul>`, "a\n\nb"},
		{"items with blocks", "<ul><li><p>a</p></li><li><div>b</div></li><li></li><li>c</li></ul>", "- a\n\n- b\n- c"},
		{"an item outside a list", "<li>a</li>b", "- a\nb"},
		{"definitions", "<dl><dt>a<dd>b</dl>", "a\nb"},
		{"links", `<a href="https://a.example">here</a> or <a href="https://a.example/b?c=1&amp;d=2">there</a>.`, "here (https://a.example) or there (https://a.example/b?c=1&d=2)."},
		{"links without an address", `<a>a</a> <a href="#b">b</a> <a href="mailto:c@d.example">c</a> <a href="javascript:d">d</a>`, "a b c d"},
		{"links to what they say", `<a href="https://a.example/">https://a.example</a> <a href="https://a.example/b">a.example/b</a> <a href="https://a.example/c">See https://a.example/c</a>`, "https://a.example a.example/b See https://a.example/c"},
		{"a link around a block", `<a href="https://a.example"><div>here</div></a>there`, "here (https://a.example)\nthere"},
		{"a link of a picture", `<a href="https://a.example"><img src=b.png alt="Start now"></a><img alt="no">`, "Start now (https://a.example)"},
		{"a link of a picture without a text", `a<a href="https://a.example"><img src=b.png></a>b`, "ab"},
		{"a link in a hidden element", `<div hidden><a href="https://a.example">a</a></div>b`, "b"},
		{"a link without an end", `<a href="https://a.example">a<a href="https://b.example">b`, "a (https://a.example) b (https://b.example)"},
		{"buttons", "<b>482913</b><button>Copy</button>", "482913 Copy"},
		{"display", `a<span style="display:block">b</span><div style="display: inline">cc</div><div style="display:inline-block">dd</div>`, "a\nb\ncc dd"},
		{"a label in another element", "<b>482913</b><span>Copy</span>", "482913 Copy"},
		{"a code behind its label", "<span>Verification code</span><b>K7P2XD</b><i>valid for ten minutes</i>", "Verification code K7P2XD valid for ten minutes"},
		{"a note", "Your code is <b>482913</b><sup>1</sup>. Or <sup>2</sup>704418<sup>a</sup>", "Your code is 482913 1. Or 2 704418 a"},
		{"a note by style", `482913<span style="vertical-align: super">1</span>`, "482913 1"},
		{"exponents and ordinals", "12 m<sup>2</sup>, H<sub>2</sub>O, the 10<sup>th</sup>, <b>21</b>st, 1<sup>er</sup>", "12 m2, H2O, the 10th, 21st, 1er"},
		{"inline-block", `<span style="display:inline-block">Code</span><span style="display:inline-block!important">482913</span>.`, "Code 482913."},
		{"inline", `<div style="display:inline">4</div><div style="display:inline">8</div>`, "48"},
		{"a flexible row", `<div style="display:flex"><span>Code</span><b>482913</b><span>10 min</span></div>`, "Code 482913 10 min"},
		{"a flexible row in a line", `a <span style="display: inline-flex"><span>Code:</span><b>482913</b></span>`, "a Code: 482913"},
		{"floats", `<span style="float:left">Total</span><b style="float:right">$9.50</b>`, "Total $9.50"},
		{"padding and margins", `<a style="padding:0 8px">Shop</a><a style="margin-left:1em">Help</a> <a style="padding:0">He</a><a style="margin:5px 0">lp</a>`, "Shop Help Help"},
		{"a price in pieces", `<span style="padding:2px">19.</span><span style="padding:2px">99</span>`, "19.99"},
		{"cells by style", `<span style="display:table-cell">Code</span><span style="display:table-cell">482913</span>`, "Code 482913"},
		{"boxes of a letter", `<b style="padding:4px">4</b><b style="padding:4px">8</b><b style="padding:4px">2</b><b style="padding:4px">9</b><button>Copy</button>`, "4829 Copy"},
		{"halves in boxes", `<span style="padding:6px">482</span>-<span style="padding:6px">913</span> <span style="padding:6px">482</span><span style="padding:6px">913</span>`, "482-913 482 913"},
		{"a button in Chinese", "<b>482913</b><button>复制</button>", "482913 复制"},
		{"an image in between", "482913<img src=c.png>Copy", "482913 Copy"},
		{"an address in pieces", "https://a.example/?t=<b>Zx8k</b><span>482913</span>", "https://a.example/?t=Zx8k482913"},
		{"an address behind a link", `<a href="http://plain.example/">x</a>https://bank.example/ <a href="https://a.example">y</a>, <a href="https://a.example">z</a>(1)`, "x (http://plain.example/) https://bank.example/ y (https://a.example), z (https://a.example) (1)"},
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
		{"hidden input", `a<input type="checkbox" style="display:none !important; max-height:0; visibility:hidden"/><div>b</div>c<input hidden>d`, "a\nb\ncd"},
		{"other hidden void elements", `<meta hidden><link style="display:none"><source hidden><hr hidden><br style="display:none"><wbr hidden><embed hidden>a<area hidden>b<track hidden>c`, "abc"},
		{"hidden paragraph without an end", `<p style="display:none">no<p>a`, "a"},
		{"hidden paragraph that a block ends", `<p hidden>no<div>a</div>b`, "a\nb"},
		{"hidden paragraph that its parent ends", `<div><p hidden>no</div>a`, "a"},
		{"hidden items without ends", `<ul><li hidden>no<li>a<li style="display:none">no</ul>b`, "- a\n\nb"},
		{"hidden definitions", `<dl><dt>a<dd hidden>no<dt>b</dl>`, "a\nb"},
		{"hidden cells and rows without ends", `<table><tr><td hidden>no<td>a<tr style="display:none"><td>no<tr><td>b</table>c`, "a\nb\nc"},
		{"hidden group of rows", `<table><thead hidden><tr><th>no<tbody><tr><td>a</table>`, "a"},
		{"hidden heading", `<h1 hidden>no<h2>a</h2>`, "a"},
		{"hidden element that an outer end tag does not reach", `<div hidden><table><tr><td>no</div>no</td></tr></table></div>a`, "a"},
		{"hidden span around a block", `<span hidden><div>no</span>no</div></span>a`, "a"},
		{"hidden formatting goes on in the next paragraph", `<p><b hidden>no<p>no</b>a`, "a"},
		{"hidden in hidden", `<div hidden><div hidden>no</div>no</div>a`, "a"},
		{"self-closing tags", `<div hidden/>no</div><p style="display:none"/>no</p>a<svg/>b`, "ab"},
		{"svg and others", `a<svg><text>no</text><path/></svg><select><option>no</select><noscript>b</noscript>c`, "abc"},
		{"noscript", `<noscript><p>a</p></noscript><p>b`, "a\n\nb"},
		{"head that a block ends", "<head><title>no</title><p>a", "a"},
		{"text in a head", "<head><style>no</style> a", "a"},
		{"textarea", "<textarea>a <b></textarea>", "a <b>"},
		{"pre", "<pre>a  b\n\nc</pre>d", "a  b\n\nc\n\nd"},
		{"pre keeps white space", "<p>x<pre>\n  a   b\r\n\tc<b> d </b>e\n</pre>", "x\n\n  a   b\n\tc d e"},
		{"white-space", "<div style='white-space: pre-wrap'>a  b\nc</div><div style='white-space:pre-line'>d  e\nf</div><pre style='white-space:normal'>g  h\ni</pre>", "a  b\nc\nd e\nf\n\ng h i"},
		{"fillers", "a\u200bb\u00adc&zwnj;&nbsp;&zwnj;&nbsp;&#847; d", "abc\u200c d"},
		{"joined emoji", "👨\u200d👩", "👨\u200d👩"},
		{"control characters", "a\x00b\x07c&#1;", "abc"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"nothing", "<p> </p>", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sanitize.Text(tt.in); got != tt.want {
				t.Errorf("Text(%q)\ngot  %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	const src = `<a href="https://a.example/1?x=1&amp;y=2">x</a><A HREF='http://b.example'>y <b>z</b></A><a href=https://a.example/1?x=1&y=2>z</a>
		<a href="mailto:x@y.example">m</a><a href="javascript:alert(1)">j</a><a href="/relative">r</a><a name=x>n</a>
		<!-- <a href="https://comment.example">c</a> --><script>'<a href="https://script.example">'</script>
		<map><area href="https://c.example" alt="C"></map><img src="https://i.example"><link href="https://l.example">
		<a href="//d.example" title="D"></a><a href=" https://e.example/a b "><img alt="e"></a><a title=">" href="HTTPS://F.example">f</a>
		<a href="https://g.example/?a=1&copy=2&lt">g</a> https://h.example <div hidden>https://no.example <a href="https://i.example">i</a></div>`
	want := []sanitize.Link{
		{URL: "https://a.example/1?x=1&y=2", Label: "x"},
		{URL: "http://b.example", Label: "y z"},
		{URL: "https://a.example/1?x=1&y=2", Label: "z"},
		{URL: "https://c.example", Label: "C"},
		{URL: "https://d.example", Label: "D"},
		{URL: "https://e.example/a%20b", Label: "e", Picture: true},
		{URL: "https://F.example", Label: "f"},
		{URL: "https://g.example/?a=1&copy=2<", Label: "g"},
		{URL: "https://i.example", Label: ""},
	}
	got, shown := sanitize.Links(src, 50)
	for i := range got {
		if at := got[i].At; at < 0 || at > len(shown) {
			t.Errorf("Links(%s, 50) has %q at %d, want a place in the text of %d octets", src, got[i].URL, at, len(shown))
		}
		got[i].At = 0
	}
	if !slices.Equal(got, want) {
		t.Errorf("Links(%s, 50)\ngot  %+v\nwant %+v", src, got, want)
	}
	if shown != "mjrn https://h.example" {
		t.Errorf("Links(%s, 50) shows %q outside of links, want %q", src, shown, "mjrn https://h.example")
	}
	for max := range 3 {
		if got, _ := sanitize.Links(src, max); len(got) != max {
			t.Errorf("Links(%s, %d) = %+v, want %d links", src, max, got, max)
		}
	}
}

func TestBeginningHasNoAddresses(t *testing.T) {
	const src = `<p>Read <a href="https://a.example/guide">the guide</a>.</p><p>Bye</p>`
	if got, want := sanitize.Beginning(src, 100), "Read the guide.\n\nBye"; got != want {
		t.Errorf("Beginning(%q, 100) = %q, want %q", src, got, want)
	}
	long := strings.Repeat(src, 1000)
	if got := sanitize.Beginning(long, 100); len(got) < 100 || len(got) > 200 {
		t.Errorf("Beginning(%d octets, 100) has %d octets, want 100 to 200", len(long), len(got))
	}
}

func FuzzText(f *testing.F) {
	for _, bodies := range hostile {
		for _, b := range bodies {
			f.Add(b)
		}
	}
	f.Add(sampleMail(1000))
	f.Fuzz(func(t *testing.T, src string) {
		got := sanitize.Text(src)
		if !utf8.ValidString(got) || strings.HasSuffix(got, "\n") || strings.HasPrefix(got, "\n") {
			t.Errorf("Text(%q) = %q, want valid UTF-8 without empty lines around it", src, got)
		}
		if strings.Contains(got, "\n\n\n") || strings.ContainsAny(got, "\r\x00") {
			t.Errorf("Text(%q) = %q, want no second empty line in a row, no carriage return and no NUL", src, got)
		}
		if plain := sanitize.Text(html.EscapeString(got)); strings.Join(strings.Fields(plain), " ") != strings.Join(strings.Fields(got), " ") {
			t.Errorf("Text(%q) = %q, which as HTML reads %q, want the same words", src, got, plain)
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
		found, shown := sanitize.Links(src, 100)
		for _, l := range found {
			if !strings.HasPrefix(l.URL, "http://") && !strings.HasPrefix(l.URL, "https://") || strings.ContainsAny(l.URL, " \t\r\n") {
				t.Errorf("Links(%q, 100) gives %q, want an address of http or https without white space", src, l.URL)
			}
		}
		if len(found) > 100 || !utf8.ValidString(shown) {
			t.Errorf("Links(%q, 100) gives %d links and shows %q, want at most 100 and valid UTF-8", src, len(found), shown)
		}
	})
}

func TestSpacedTextSetsAddressesApart(t *testing.T) {
	const src = `<p>Please <a href="https://a.example/1?x=1&amp;y=2">sign in</a>.</p><p><a href="https://b.example/">https://b.example/</a></p>`
	if got, want := sanitize.SpacedText(src), "Please sign in ( https://a.example/1?x=1&y=2 ).\n\nhttps://b.example/"; got != want {
		t.Errorf("SpacedText of %s\ngot  %q\nwant %q", src, got, want)
	}
	if got, want := sanitize.Text(src), "Please sign in (https://a.example/1?x=1&y=2).\n\nhttps://b.example/"; got != want {
		t.Errorf("Text of %s\ngot  %q\nwant %q", src, got, want)
	}
}
