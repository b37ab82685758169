//go:build visual

package sanitize_test

import (
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// TestTheCascadeIsThatOfChromium cooks style sheets at random, from a fixed seed, and lets Chromium compute the styles of
// every element at three widths, of the mail as it was written and of what is left of it.
func TestTheCascadeIsThatOfChromium(t *testing.T) {
	browser := chromium(t)
	r := rand.New(rand.NewPCG(3, 4))
	var page strings.Builder
	page.WriteString(`<!DOCTYPE html><body>`)
	const mails = 150
	for i := range mails {
		src := randomMail(r)
		for _, width := range []int{300, 500, 700} {
			for _, doc := range []string{src, "<!DOCTYPE html>" + sanitize.HTML(src, "seed", nil)} {
				fmt.Fprintf(&page, `<iframe id=m%d sandbox="allow-same-origin" width=%d height=9 srcdoc="%s"></iframe>`,
					i, width, html.EscapeString(doc))
			}
		}
	}
	page.WriteString(`<pre id=found></pre><script>onload = () => {
		const frames = document.querySelectorAll("iframe"), found = []
		let compared = 0
		for (let i = 0; i < frames.length; i += 2) {
			const [a, b] = [frames[i].contentDocument, frames[i+1].contentDocument]
			for (const e of a.querySelectorAll("[title]")) {
				const f = b.querySelector("[title='" + e.title + "']")
				const x = getComputedStyle(e), y = getComputedStyle(f)
				for (const p of ["padding", "margin", "color", "background-color", "font-size", "font-weight", "font-family", "line-height",
					"border-width", "border-style", "border-color", "border-radius", "text-align", "text-decoration-line", "list-style-type"]) {
					compared++
					if (x[p] !== y[p]) found.push(frames[i].id + " at " + frames[i].width + ": " + e.title + " " + p + " " + x[p] + " became " + y[p])
				}
			}
		}
		document.body.innerHTML = ""
		document.body.append("compared " + compared + "\n" + found.slice(0, 20).join("\n") + "\nend")
	}</script>`)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, result, _ := strings.Cut(string(out), "compared ")
	result, _, _ = strings.Cut(result, "\nend")
	compared, found, _ := strings.Cut(result, "\n")
	if found != "" || compared == "" || compared == "0" {
		t.Errorf("compared %s elements, want some, and no difference:\n%s", compared, html.UnescapeString(found))
		if *shots != "" {
			os.WriteFile(filepath.Join(*shots, "cascade.html"), []byte(page.String()), 0o644)
		}
	}
	t.Logf("compared %s values", compared)
}

// randomMail is a small tree with classes, identifiers and inline styles, and a style sheet of up to fifteen rules.
func randomMail(r *rand.Rand) string {
	pick := func(from string) string {
		all := strings.Split(from, "|")
		return all[r.IntN(len(all))]
	}
	declarations := func(most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(pick(`padding:1px|padding:2px 3px|padding-left:4px|padding-top:5px|margin:6px|margin:7px 8px 9px|margin-left:10px|` +
				`color:#f00|color:#00ff00|color:blue|color:rgb(1,2,3)|background:#eee|background:none|background-color:#abc|font:italic 12px serif|` +
				`font:bold 14px/20px Arial|font-size:16px|font-size:18px|font-size:17px|font-weight:bold|font-weight:normal|line-height:1.5|` +
				`font-family:monospace|border:1px solid red|border:0|border:none|border-top:2px dotted #123456|border-width:3px|border-color:#fff|` +
				`border-style:dashed|border-left-width:4px|border-right-color:green|border-radius:5px|border-top-left-radius:6px|text-align:left|` +
				`text-align:center|text-decoration:none|text-decoration:underline|text-decoration-line:overline|list-style:square|` +
				`list-style-type:circle|padding:bad|color:#12345|width:fit-content|border:nonsense 1px|margin:1px 2px 3px 4px 5px`))
			b.WriteString(pick(`;|;|;|!important;| ! important ;`))
		}
		return b.String()
	}
	compound := func() string {
		return pick(`*|p|b|div|td|a|.a|.b|.c|.d|p.a|div.b|.a.b|#i|#j|b#i|[title]|[class=a]|[class~=b]|a:link|:first-child|b:last-child|.a[title]`)
	}
	selector := func() string {
		s := compound()
		for range r.IntN(4) {
			s += pick(` | > |>|  `) + compound()
		}
		return s
	}
	var css strings.Builder
	for range 1 + r.IntN(15) {
		rule := selector() + pick(`|,`+selector()) + "{" + declarations(4) + "}"
		css.WriteString(pick(rule + "|@media (max-width:400px){" + rule + "}|@media screen and (min-width:450px){" + rule + "}|" +
			"@media (min-width:400px) and (max-width:600px){" + rule + "}|@media screen{" + rule + "}|@media print{" + rule + "}|" + rule))
	}
	n := 0
	attrs := func() string {
		n++
		s := fmt.Sprintf(` title=%d`, n)
		if r.IntN(3) > 0 {
			s += ` class="` + pick(`a|b|c|d|a b|b c|a d|c d a`) + `"`
		}
		if r.IntN(6) == 0 {
			s += ` id=` + pick("i|j")
		}
		if r.IntN(3) == 0 {
			s += ` style="` + declarations(3) + `"`
		}
		return s
	}
	body := `<div` + attrs() + `><p` + attrs() + `>x<b` + attrs() + `>y</b><a href=https://a.example` + attrs() + `>z<b` + attrs() +
		`>u</b></a></p><table` + attrs() + `><tr` + attrs() + `><td` + attrs() + `><div` + attrs() + `><p` + attrs() + `>v</p></div></td><td` +
		attrs() + `><b` + attrs() + `>w</b></td></tr></table><ul` + attrs() + `><li` + attrs() + `>t</li></ul></div>`
	return `<!DOCTYPE html><head><style>` + css.String() + `</style></head><body>` + body
}
