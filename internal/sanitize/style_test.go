package sanitize_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// The grammar of a style element in the output, written down without looking at the package: media rules for a width, and
// in them rules whose selector is the scope and one class of it.
const (
	grammarLength  = `(?:0|(?:[0-9]+|[0-9]*\.[0-9]+)(?:px|em|rem|pt))`
	grammarFeature = `\((?:min|max)-(?:device-)?width:` + grammarLength + `\)`
	grammarQuery   = `(?:screen and )?` + grammarFeature + `(?: and ` + grammarFeature + `)*`
	grammarRule    = `\.(m[a-z2-7]{8}) \.(m[a-z2-7]{8}-[0-9]+)\{([^{}]+)\}`
)

var (
	mediaBlock = regexp.MustCompile(`^@media (` + grammarQuery + `(?:,` + grammarQuery + `)*)\{((?:` + grammarRule + `)+)\}`)
	mediaRule  = regexp.MustCompile(`^` + grammarRule)
	styleDecl  = regexp.MustCompile(`^[a-z-]+:[^;:!{}@\\<>]+ !important$`)
)

// emittedRule is a rule of the style element in the output.
type emittedRule struct{ condition, scope, class, declarations string }

// emitted reads the text of a style element by its grammar, and gives what is left where it does not hold.
func emitted(css string) (rules []emittedRule, rest string) {
	for css != "" {
		block := mediaBlock.FindStringSubmatch(css)
		if block == nil {
			return rules, css
		}
		for body := block[2]; body != ""; {
			m := mediaRule.FindStringSubmatch(body)
			for decl := range strings.SplitSeq(m[3], ";") {
				if !styleDecl.MatchString(decl) {
					return rules, decl
				}
			}
			rules = append(rules, emittedRule{block[1], m[1], m[2], m[3]})
			body = body[len(m[0]):]
		}
		css = css[len(block[0]):]
	}
	return rules, ""
}

// scopeOf is the class of the div around the mail whose first child is n, a style element.
func scopeOf(n *html.Node) string {
	if p := n.Parent; p != nil && p.Data == "div" && p.FirstChild == n && len(p.Attr) == 1 && p.Attr[0].Key == "class" {
		return p.Attr[0].Val
	}
	return ""
}

// sheet holds a style element of the output against the grammar.
func (w *walker) sheet(n *html.Node) {
	if n.FirstChild == nil || n.FirstChild != n.LastChild || n.FirstChild.Type != html.TextNode {
		w.say("a style element of several nodes, or empty")
		return
	}
	rules, rest := emitted(n.FirstChild.Data)
	if rest != "" {
		w.say("style element: %q", rest)
	}
	scope := scopeOf(n)
	for _, r := range rules {
		w.style(strings.ReplaceAll(r.declarations, " !important", ""))
		if r.scope != scope || !strings.HasPrefix(r.class, scope+"-") {
			w.say("a rule for .%s .%s in the scope %q", r.scope, r.class, scope)
		}
	}
}

// class holds a class attribute of the output against the scope.
func (w *walker) class(n *html.Node, v string) {
	if c := n.FirstChild; c != nil && c.Data == "style" && scopeOf(c) == v && ownScope.MatchString(v) {
		return
	}
	for name := range strings.FieldsSeq(v) {
		if !ownClass.MatchString(name) {
			w.say("class %q", name)
		}
	}
}

var (
	ownScope = regexp.MustCompile(`^m[a-z2-7]{8}$`)
	ownClass = regexp.MustCompile(`^m[a-z2-7]{8}-[0-9]{1,4}$`)
)

// styled sanitizes body with css in front of it, and gives the style attribute of the element whose title is x, "-" if it
// has none.
func styled(t *testing.T, css, body string) string {
	t.Helper()
	out := sanitize.HTML("<!DOCTYPE html><head><style>"+css+"</style></head><body>"+body, "seed", nil)
	check(t, css, out, mailElements, mailAttributes)
	if again := sanitize.HTML(out, "seed", nil); again != out {
		t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", css+body, out, again)
	}
	if n := titled(t, out, "x"); n != nil {
		for _, a := range n.Attr {
			if a.Key == "style" {
				return a.Val
			}
		}
	}
	return "-"
}

func titled(t *testing.T, out, title string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "title" && a.Val == title {
				return n
			}
		}
	}
	return nil
}

func TestRulesBecomeStyleAttributes(t *testing.T) {
	const body = `<div class="a b" id="top"><p class="c" id="i"><b class="d e" title="x" lang="en">text</b></p></div>`
	tests := []struct{ css, want string }{
		{`b{color:red}`, "color:red"},
		{`B { COLOR : red }`, "color:red"},
		{`.d{color:red}`, "color:red"},
		{`.d.e{color:red}`, "color:red"},
		{`.d.f{color:red}`, "-"},
		{`#i b{color:red}`, "color:red"},
		{`b#i{color:red}`, "-"},
		{`*{color:red}`, "color:red"},
		{`i, b ,u{color:red}`, "color:red"},
		{`div b{color:red}`, "color:red"},
		{`div > b{color:red}`, "-"},
		{`div>p>b{color:red}`, "color:red"},
		{`.a p > .e{color:red}`, "color:red"},
		{`body .a b{color:red}`, "color:red"},
		{`html>body>div b{color:red}`, "color:red"},
		{`p div b{color:red}`, "-"},
		{`.D{color:red}`, "-"},
		{`[title]{color:red}`, "color:red"},
		{`b[title="x"]{color:red}`, "color:red"},
		{`b[title=y]{color:red}`, "-"},
		{`b[class~=e]{color:red}`, "color:red"},
		{`b[class=e]{color:red}`, "-"},
		{`b[class*="d e"]{color:red}`, "color:red"},
		{`*[class*=e]{color:red}`, "color:red"},
		{`[class*="f"]{color:red}`, "-"},
		{`[class*=""]{color:red}`, "-"},
		{`b[class^=d]{color:red}`, "color:red"},
		{`b[class^="e"]{color:red}`, "-"},
		{`b[class$='e']{color:red}`, "color:red"},
		{`b[class$="d"]{color:red}`, "-"},
		{`b[lang|=en]{color:red}`, "color:red"},
		{`b[lang|=e]{color:red}`, "-"},
		{`b[class*="E" i]{color:red}`, "color:red"},
		{`b[class*="E" s]{color:red}`, "-"},
		{`b[class*="E"]{color:red}`, "-"},
		{`b[title="X" i]{color:red}`, "color:red"},
		{`b[class*="e" x]{color:red}`, "-"},
		{`b[class!="e"]{color:red}`, "-"},
		{`#top [class*=c] > [class^=d][class$=e]{color:red}`, "color:red"},
		{`b:first-child{color:red}`, "color:red"},
		{`p:last-child b{color:red}`, "color:red"},
		{`a:hover,b{color:red}`, "color:red"},
		{`b:hover{color:red}`, "-"},
		{`b::before{color:red}`, "-"},
		{`p + b{color:red}`, "-"},
		{`p ~ b{color:red}`, "-"},
		{`b:not(.x){color:red}`, "-"},
		{`> b{color:red}`, "-"},
		{`b >{color:red}`, "-"},
		{`b!{color:red}`, "-"},
		{`.\64{color:red}`, "-"},
		{`.1d{color:red}`, "-"},
		{`{color:red}`, "-"},
		{`b{position:fixed;color:red;background:url(x)}`, "color:red"},
		{`b{position:fixed}`, "-"},
		{`b/**/,i/*,*/{/*;*/color/*:*/:red/*}*/}`, "color:red"},
		{`<!-- b{color:red} -->`, "color:red"},
		{`@import "x";@charset "y"; b{color:red}`, "color:red"},
		{`@font-face{font-family:x;src:url(y)} b{color:red}`, "color:red"},
		{`@supports (x:y){b{color:blue}} b{color:red}`, "color:red"},
		{`@keyframes k{from{color:blue}to{color:green}} b{color:red}`, "color:red"},
		{`@media print{b{color:blue}} b{color:red}`, "color:red"},
		{`@media screen{b{color:red}}`, "color:red"},
		{`@media all{@media{b{color:red}}}`, "color:red"},
		{`i{background:url(data:image/png;base64,}{;)} b{color:red}`, "color:red"},
		{`i{content:"}b{color:blue}"} b{color:red}`, "color:red"},
		{`i{content:'it\'s}'} b{color:red}`, "color:red"},
		{"i{content:'not closed\n} b{color:red}", "color:red"},
		{`i{x:(}b{color:blue})} b{color:red}`, "color:red"},
		{`b{color:red;&:hover{color:blue;width:1px}}`, "color:red"},
		{`b{color:red`, "color:red"},
		{`i{}}b{color:red} b{color:blue}`, "color:blue"},
		{`b color:red`, "-"},
	}
	for _, tt := range tests {
		if got := styled(t, tt.css, body); got != tt.want {
			t.Errorf("HTML with the style %s\ngot  %s\nwant %s", tt.css, got, tt.want)
		}
	}
}

func TestTheCascadeDecides(t *testing.T) {
	tests := []struct{ css, inline, want string }{
		{`b{color:red}b{color:blue}`, "", "color:red;color:blue"},
		{`b{color:#ff0000}b{color:#00f}`, "", "color:#00f"},
		{`.c{width:1px}b{width:2px}`, "", "width:1px"},
		{`#i{width:1px}.c.c{width:2px}`, "", "width:1px"},
		{`b{width:1px!important}.c{width:2px}`, "", "width:1px"},
		{`b{width:1px!important}.c{width:2px !important}`, "", "width:2px"},
		{`.c{width:1px}`, "width:2px", "width:2px"},
		{`.c{width:1px!important}`, "width:2px", "width:1px"},
		{`.c{width:1px!important}`, "width:2px!important", "width:2px !important"},
		{`.c{padding:1px}`, "padding-left:2px", "padding:1px;padding-left:2px"},
		{`.c{padding-left:1px}`, "padding:2px", "padding:2px"},
		{`.c{padding-left:1px}`, "padding:calm", "padding-left:1px;padding:calm"},
		{`.c{margin:1px 2px}`, "margin:0 0 3px 4%", "margin:0 0 3px 4%"},
		{`.c{margin:1px}`, "margin:0 0 0 0 0", "margin:1px;margin:0 0 0 0 0"},
		{`.c{color:red}`, "color:#ffff", "color:red;color:#ffff"},
		{`.c{display:table}`, "display:none", "display:none"},
		{`b,.c{width:1px}b.c{width:2px}.c{width:3px}`, "", "width:2px"},
		{`.c{width:1px}`, "height:auto", "width:1px;height:auto"},
		{`.c{width:50%}`, "width:2px", "width:2px"},
		{`.c{width:1px;width:fit-content}`, "", "width:1px;width:fit-content"},
		{`.c{margin:-1px}`, "", "-"},
	}
	for _, tt := range tests {
		attr := ""
		if tt.inline != "" {
			attr = ` style="` + tt.inline + `"`
		}
		if got := styled(t, tt.css, `<b class=c id=i title=x`+attr+`>x</b>`); got != tt.want {
			t.Errorf("%s with %q\ngot  %s\nwant %s", tt.css, tt.inline, got, tt.want)
		}
	}
}

func TestRulesOfTheBody(t *testing.T) {
	const src = `<!DOCTYPE html><html style="line-height:2"><style>html{height:100%;color:red}body{margin:0;padding:1px !important}` +
		`@media (max-width:5px){body{padding:0 !important}}</style><body bgcolor="#eeeeee" style="padding:3px">x`
	const want = `<div class="mdgzfqvxb"><style>@media (max-width:5px){.mdgzfqvxb .mdgzfqvxb-0{padding:0 !important}}</style>` +
		`<div style="color:red;line-height:2;background-color:#eeeeee;margin:0;padding:1px;display:flow-root" class="mdgzfqvxb-0">x</div></div>`
	if got := sanitize.HTML(src, "seed", nil); got != want {
		t.Errorf("HTML = %s\nwant %s", got, want)
	}
}

// TestRulesForAWidth names the rules of the style element: what a rule may be, and what it has to win over.
func TestRulesForAWidth(t *testing.T) {
	tests := []struct{ css, inline, want string }{
		{`@media (max-width:600px){b{width:1px}}`, "", "(max-width:600px) width:1px"},
		{
			`@media only screen and (max-width: 600px) {.c{width:1px;color:red!important}}`, "",
			"screen and (max-width:600px) width:1px | screen and (max-width:600px) color:red",
		},
		{
			`@media screen and (min-width:1em) and (max-width:37.5em), print{b{width:1px}}`, "",
			"screen and (min-width:1em) and (max-width:37.5em) width:1px",
		},
		{`@media (max-width:1px),(min-width:9px){b{width:1px}}`, "", "(max-width:1px),(min-width:9px) width:1px"},
		{`@media (width<=600px){b{width:1px}}`, "", "(max-width:600px) width:1px"},
		{`@media(max-width:600px){b{width:1px}}`, "", "(max-width:600px) width:1px"},
		{`@media screen{@media (max-width:6px){b{width:1px}}}`, "", "(max-width:6px) width:1px"},
		{`@media (min-width:5px){@media (max-width:6px){b{width:1px}}}`, "", "(min-width:5px) and (max-width:6px) width:1px"},
		{`@media (max-width:600px) and (orientation:portrait){b{width:1px}}`, "", ""},
		{`@media (prefers-color-scheme:dark){b{color:red}}`, "", ""},
		{`@media not screen and (max-width:600px){b{width:1px}}`, "", ""},
		{`@media screen and(max-width:600px){b{width:1px}}`, "", ""},
		{`@media screen or (max-width:600px){b{width:1px}}`, "", ""},
		{`@media (max-width:600px\9){b{width:1px}}`, "", ""},
		{`@media (max-width:calc(1px)){b{width:1px}}`, "", ""},
		{`@media (max-width:-1px){b{width:1px}}`, "", ""},
		{`@media (max-width:px){b{width:1px}}`, "", ""},
		{`@media (max-width:600px){b{width:1px}`, "", "(max-width:600px) width:1px"},
		{`@media (max-width:600px){i{width:1px}}`, "", ""},
		{`@media (max-width:600px){b{position:fixed;background:url(x);margin:-1px}}`, "", ""},
		// Against what holds at every width.
		{`@media (max-width:600px){b{width:1px}}`, "width:2px", ""},
		{`@media (max-width:600px){b{width:1px}}`, "width:bad", "(max-width:600px) width:1px;width:bad"},
		{`@media (max-width:600px){b{width:1px!important}}`, "width:bad!important", "(max-width:600px) width:1px"},
		{`@media (max-width:600px){b{margin:1px}}`, "margin:0 auto", ""},
		{`@media (max-width:600px){b{width:1px!important}}`, "width:2px", "(max-width:600px) width:1px"},
		{`@media (max-width:600px){b{width:1px!important}}`, "width:2px!important", ""},
		{`@media (max-width:600px){b{width:1px}}b{width:2px}`, "", ""},
		{`b{width:2px}@media (max-width:600px){b{width:1px}}`, "", "(max-width:600px) width:1px"},
		{`.c{width:2px}@media (max-width:600px){b{width:1px}}`, "", ""},
		{`b{width:2px!important}@media (max-width:600px){b.c{width:1px}}`, "", ""},
		{`b{width:2px!important}@media (max-width:600px){b{width:1px!important}}`, "", "(max-width:600px) width:1px"},
		{`.c{padding-left:2px}@media (max-width:600px){b{padding:1px}}`, "", "(max-width:600px) padding:1px;padding-left:2px"},
		{`.c{padding:2px}@media (max-width:600px){b{padding-left:1px}}`, "", ""},
		{`@media (max-width:600px){b{padding:1px!important}}`, "padding-left:2px", "(max-width:600px) padding:1px"},
		{
			`.c{font:12px x}b.c{font-size:3px}@media (max-width:600px){b{font-family:y}}`, "",
			"(max-width:600px) font-family:y;font:12px x;font-size:3px",
		},
		// Against each other.
		{
			`@media (max-width:600px){.c{width:1px}}@media (max-width:500px){b{width:2px}}`, "",
			"(max-width:500px) width:2px | (max-width:600px) width:1px",
		},
		{
			`@media (max-width:600px){.c{width:1px}}@media (max-width:500px){b{width:2px!important}}`, "",
			"(max-width:600px) width:1px | (max-width:500px) width:2px",
		},
	}
	for _, tt := range tests {
		src := "<style>" + tt.css + `</style><b class=c title=x style="` + tt.inline + `">x</b>`
		styled(t, "", src)
		var got []string
		out := sanitize.HTML(src, "seed", nil)
		for _, r := range rulesFor(t, out, "x") {
			got = append(got, r.condition+" "+strings.ReplaceAll(r.declarations, " !important", ""))
		}
		if strings.Join(got, " | ") != tt.want {
			t.Errorf("%s with %q\ngot  %s\nwant %s\nin %s", tt.css, tt.inline, strings.Join(got, " | "), tt.want, out)
		}
	}
}

// rulesFor gives the rules of the style element of out that hold for the element of that title, in their order.
func rulesFor(t *testing.T, out, title string) (found []emittedRule) {
	t.Helper()
	_, css, _ := strings.Cut(out, "<style>")
	css, _, _ = strings.Cut(css, "</style>")
	rules, rest := emitted(css)
	if rest != "" {
		t.Fatalf("the style element of %q has the rest %q, want only rules of the emitted form", out, rest)
	}
	for _, a := range titled(t, out, title).Attr {
		for _, r := range rules {
			if a.Key == "class" && words(a.Val)[r.class] {
				found = append(found, r)
			}
		}
	}
	return found
}

func TestMailsHaveScopesOfTheirOwn(t *testing.T) {
	const src = `<style>@media (max-width:9px){b{width:1px}}</style><b>x</b>`
	first, second := sanitize.HTML(src, "first", nil), sanitize.HTML(src, "second", nil)
	if first == second || first != sanitize.HTML(src, "first", nil) {
		t.Errorf("HTML with the seed first = %s\nwith second = %s\nagain with first = %s\nwant scopes that follow the seed alone", first, second, sanitize.HTML(src, "first", nil))
	}
	guessed := strings.Replace(first, "<style>", `<b class="`+first[len(`<div class="`):][:9]+`-1">y</b><style>`, 1)
	if out := sanitize.HTML(guessed, "first", nil); strings.Contains(out, "y</b>") && strings.Contains(out, `-1">y`) {
		t.Errorf("HTML keeps a class of the sender in the scope, want it dropped: %s", out)
	}
}

func TestWhichStyleElementsCount(t *testing.T) {
	const rule, body = `b{color:red}`, `<b title=x>x</b>`
	for src, counts := range map[string]bool{
		`<style>` + rule + `</style>` + body:                                        true,
		body + `<style>` + rule + `</style>`:                                        true,
		`<div><style type="text/css">` + rule + `</style></div>` + body:             true,
		`<table><style>` + rule + `</style><tr><td>` + body + `</table>`:            true,
		`<style media="screen">` + rule + `</style>` + body:                         true,
		`<style media="print">` + rule + `</style>` + body:                          false,
		`<style type="text/x">` + rule + `</style>` + body:                          false,
		`<!--[if mso]><style>` + rule + `</style><![endif]-->` + body:               false,
		`<!--[if !mso]><!--><style>` + rule + `</style><!--<![endif]-->` + body:     true,
		`<svg><style>` + rule + `</style></svg>` + body:                             false,
		`<noscript><style>` + rule + `</style></noscript>` + body:                   true, // mail programs run no scripts
		`<template><style>` + rule + `</style></template>` + body:                   false,
		`<object><style>` + rule + `</style></object>` + body:                       true, // what is shown in its place
		`<textarea><style>` + rule + `</style></textarea>` + body:                   false,
		`<style>` + rule + strings.Repeat(" ", 256<<10) + `</style>` + body:         false,
		`<style>` + strings.Repeat(`i{color:red}`, 4096) + rule + `</style>` + body: false,
	} {
		got := styled(t, "", src) == "color:red"
		if got != counts {
			t.Errorf("the style %.80s has its effect: %t, want %t", src, got, counts)
		}
	}
}

func FuzzStyle(f *testing.F) {
	for _, body := range hostile["style sheets"] {
		f.Add(strings.ReplaceAll(strings.ReplaceAll(body, "<style>", ""), "</style>", ""), "color:red")
	}
	f.Add(`@media screen and (max-width:600px),(width>=1em){.a>b,#i *{width:100%!important}}b.a{padding:1px}`, "padding-left:2px!important")
	f.Add(`@media (min-width:1px){@media all{b[title~=x]:first-child{color:#fff}}}a:link{margin:0}`, "font:12px x;line-height:1")
	f.Add("@media (max-width:0px){html{display:none}", "width:0")
	f.Fuzz(func(t *testing.T, css, inline string) {
		src := "<style>" + css + `</style><div class="a b" id=i style="` + strings.ReplaceAll(inline, `"`, "&quot;") +
			`"><b class=a title=x>x<a href=https://a.example id=j>y</a></b><p class="b c">z</div>`
		out := sanitize.HTML(src, "seed", nil)
		check(t, src, out, mailElements, mailAttributes)
		if again := sanitize.HTML(out, "seed", nil); again != out {
			t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", src, out, again)
		}
	})
}
