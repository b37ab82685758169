package sanitize_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// sanitized returns the HTML of a mail, and checks that it is safe and that sanitizing it again changes nothing.
func sanitized(t *testing.T, src string) string {
	t.Helper()
	out := sanitize.HTML(src, "seed", anyImage)
	check(t, src, out, mailElements, mailAttributes)
	if again := sanitize.HTML(out, "seed", anyImage); again != out {
		t.Errorf("HTML(%q)\n once  %q\n twice %q\nwant the same both times", src, out, again)
	}
	return out
}

func TestElementsAreReplacedByWhatTheyFallBackTo(t *testing.T) {
	for src, want := range map[string]string{
		`<picture><source srcset="https://i.example/dark.png"><img src="https://i.example/light.png" alt="a"></picture>`:               `<img src="https://i.example/light.png" alt="a">`,
		`<video poster=x src=y><source src=z><track src=z><a href="https://a.example"><img src="https://i.example/1.png"></a></video>`: `<a href="https://a.example" rel="noopener noreferrer nofollow" target="_blank"><img src="https://i.example/1.png"></a>`,
		`<audio controls src=x><p>a</p></audio>`:                                    `<p>a</p>`,
		`<noscript><p>a <b>b</b></p><img src="https://i.example/1.png"></noscript>`: `<p>a <b>b</b></p><img src="https://i.example/1.png">`,
		`<noscript><script>alert(1)</script><p onclick=x>a</p></noscript>`:          `<p>a</p>`,
		`<canvas>a</canvas><object data=x><param name=y><p>b</p></object>`:          `a<p>b</p>`,
		`a<video src=x></video>b`:                                                   `ab`,
		`<iframe src=x>no</iframe><embed src=x>a`:                                   `a`,
	} {
		if got := sanitized(t, src); got != want {
			t.Errorf("HTML(%q)\ngot  %s\nwant %s", src, got, want)
		}
	}
}

func TestPlacesInTheMailAreLedTo(t *testing.T) {
	const away = ` rel="noopener noreferrer nofollow" target="_blank"`
	for src, want := range map[string]string{
		`<a href="#part">x</a><h2 id="part">y</h2>`:                                                   `<a href="#SCOPE-part">x</a><h2 id="SCOPE-part">y</h2>`,
		`<a href="#part">x</a><a name="part">y</a>`:                                                   `<a href="#SCOPE-part">x</a><a id="SCOPE-part">y</a>`,
		`<a title=t href="#part" lang=en>x</a><a title=t name="part" lang=en style="color:red">y</a>`: `<a href="#SCOPE-part" lang="en" title="t">x</a><a id="SCOPE-part" lang="en" style="color:red" title="t">y</a>`,
		`<a href="#b%C3%BCro">x</a><p id="büro">y`:                                                    `<a href="#SCOPE-büro">x</a><p id="SCOPE-büro">y</p>`,
		`<a href="#gone">x</a>`:                                                                       `<a>x</a>`,
		`<a href="#form">x</a><form id=form>y</form>`:                                                 `<a>x</a>y`,
		`<p id="alone">x</p><a name="alone">y</a>`:                                                    `<p>x</p><a>y</a>`,
		`<a href="#">x</a><a href="#top">y</a>`:                                                       `<a>x</a><a>y</a>`,
		`<a href="#a b">x</a><p id="a b">y`:                                                           `<a>x</a><p>y</p>`,
		`<a href="https://a.example/#part">x</a><p id="part">y`:                                       `<a href="https://a.example/#part"` + away + `>x</a><p>y</p>`,
		`<img src="https://i.example/1.png" usemap="#m"><map name="m"><area shape="rect" coords="0,0,9,9" href="https://a.example" alt="a" onclick=x><area href="javascript:x"></map>`: `<img src="https://i.example/1.png" usemap="#SCOPE-m"><map name="SCOPE-m"><area shape="rect" coords="0,0,9,9" href="https://a.example"` + away + ` alt="a"><area></map>`,
		`<img usemap="#m"><map name="n"><a href="https://a.example">a</a></map>`:                                                                                                       `<img><map><a href="https://a.example"` + away + `>a</a></map>`,
	} {
		want = strings.ReplaceAll(want, "SCOPE", "mdgzfqvxb")
		if got := sanitized(t, src); got != want {
			t.Errorf("HTML(%q)\ngot  %s\nwant %s", src, got, want)
		}
	}
	if got := sanitize.Notice(`<a href="#part">x</a><p id="part">y</p>`); got != `<a>x</a><p>y</p>` {
		t.Errorf(`Notice keeps places: %s, want "<a>x</a><p>y</p>"`, got)
	}
}

func TestGradientsStay(t *testing.T) {
	const sea = "https://i.example/sea.jpg"
	for style, want := range map[string]string{
		`background:linear-gradient(90deg,#264,#6b8)`:                                          `style="background:linear-gradient(90deg,#264,#6b8)"`,
		`background: #264  Linear-Gradient(to right, rgba(0, 0, 0, .5) 10%, hsl(120 50% 50%))`: `style="background:#264 Linear-Gradient(to right, rgba(0, 0, 0, .5) 10%, hsl(120 50% 50%))"`,
		`background-image:radial-gradient(circle at 30% 20%,#fff,#000 60%);color:#ffffff`:      `style="background-image:radial-gradient(circle at 30% 20%,#fff,#000 60%);color:#ffffff"`,
		`background-color:#264;background-image:linear-gradient(#264,#6b8)`:                    `style="background-color:#264;background-image:linear-gradient(#264,#6b8)"`,
		`background-image:linear-gradient(#0008,#0008),linear-gradient(#111,#222)`:             `style="background-image:linear-gradient(#0008,#0008),linear-gradient(#111,#222)"`,
		// Over an image, which is loaded when its reader asks for that.
		`background:linear-gradient(#0008,#0008),url(` + sea + `) center`:               `background="` + sea + `" style="background:linear-gradient(#0008,#0008), center"`,
		`background-image:linear-gradient(#0008,#0008), url(` + sea + `)`:               `background="` + sea + `" style="background-image:linear-gradient(#0008,#0008)"`,
		`background-image:linear-gradient(#000,#fff);background-image:url(` + sea + `)`: `background="` + sea + `" style="background-image:linear-gradient(#000,#fff)"`, // until that is loaded
		// What is none.
		`background:linear-gradient(url(` + sea + `),#fff)`:           ``,
		`background:linear-gradient(linear-gradient(#000,#fff),#fff)`: ``,
		`background:linear-gradient(rgb(rgb(1),2,3),#fff)`:            ``,
		`background:linear-gradient(var(--x),#fff)`:                   ``,
		`background:linear-gradient(#000,#fff`:                        ``,
		`background:linear-gradient(#000,#fff))`:                      ``,
		`background:-webkit-linear-gradient(#000,#fff)`:               ``,
		`background:repeating-linear-gradient(#000,#fff .001px)`:      ``, // slow to draw
		`background-image:none`:                                       ``,
	} {
		if want != "" {
			want = " " + want
		}
		src, want := `<div style="`+style+`">x</div>`, `<div`+want+`>x</div>`
		got := sanitized(t, src)
		if got != want {
			t.Errorf("HTML(%q)\ngot  %s\nwant %s", src, got, want)
		}
		if again := sanitized(t, got); again != got {
			t.Errorf("HTML(%q) again\ngot  %s\nwant %s", got, again, got)
		}
	}
}

func TestBackgroundImagesBecomeAnAttribute(t *testing.T) {
	const sea = "https://i.example/sea.jpg"
	for src, want := range map[string]string{
		`<td background="` + sea + `">x`:                                                                                                   ``,
		`<table background="` + sea + `"><tr><td>x</table>`:                                                                                `<table background="` + sea + `"><tbody><tr><td>x</td></tr></tbody></table>`,
		`<div style="background-image:url(` + sea + `);padding:1px">x</div>`:                                                               `<div background="` + sea + `" style="padding:1px">x</div>`,
		`<div style="background-image: URL( '` + sea + `' ) !important">x</div>`:                                                           `<div background="` + sea + `">x</div>`,
		`<div style="background:#fff url(&quot;` + sea + `&quot;) no-repeat center/cover">x</div>`:                                         `<div background="` + sea + `" style="background:#fff no-repeat center/cover">x</div>`,
		`<div style="background:url(//i.example/sea.jpg)">x</div>`:                                                                         `<div background="` + sea + `">x</div>`,
		`<div style="background-image:url(` + sea + `);background-size:cover;background-position:top;background-repeat:no-repeat">x</div>`: `<div background="` + sea + `" style="background-size:cover;background-position:top;background-repeat:no-repeat">x</div>`,
		`<div style="background-image:url(` + sea + `);background:#fff">x</div>`:                                                           `<div style="background:#fff">x</div>`,
		`<div style="background-image:url(` + sea + `);background-image:none">x</div>`:                                                     `<div>x</div>`,
		`<div background="` + sea + `" style="background-image:url(https://i.example/a.png)">x</div>`:                                      `<div background="` + sea + `">x</div>`,
		`<b title=t background="` + sea + `" lang=en>x</b>`:                                                                                `<b background="` + sea + `" lang="en" title="t">x</b>`,
		`<div style="background:url(https://i.example/a'b(c)*d.png)">x</div>`:                                                              `<div>x</div>`,
		`<div style="background:url('https://i.example/a&quot;b*(c);d.png')">x</div>`:                                                      `<div background="https://i.example/a%22b%2A%28c%29%3Bd.png">x</div>`,
		`<div style="background:url(data:image/png;base64,AA)">x</div>`:                                                                    `<div>x</div>`,
		`<div style="background:url(javascript:alert(1))">x</div>`:                                                                         `<div>x</div>`,
		`<div style="background:url(` + sea + `),url(https://i.example/b.png)">x</div>`:                                                    `<div>x</div>`,
		`<div style="list-style-image:url(` + sea + `)">x</div>`:                                                                           `<div>x</div>`,
		`<p background="javascript:x">x</p><p background="x.png">y</p>`:                                                                    `<p>x</p><p>y</p>`,
		`<body background="` + sea + `" bgcolor="#eeeeee">x`:                                                                               `<div background="` + sea + `" style="background-color:#eeeeee;display:flow-root">x</div>`,
		`<style>.h{background:url(` + sea + `) #333}</style><div class=h>x</div>`:                                                          `<div background="` + sea + `" style="background:#333">x</div>`,
		`<style>.h{background-image:url(` + sea + `)}</style><div class=h style="background:#ffffff">x</div>`:                              `<div style="background:#ffffff">x</div>`,
	} {
		if want == "" {
			want = "x" // a cell outside of a table is none
		}
		if got := sanitized(t, src); got != want {
			t.Errorf("HTML(%q)\ngot  %s\nwant %s", src, got, want)
		}
	}
	// A rule for a width loads nothing.
	src := `<style>@media (max-width:9px){.h{background:url(` + sea + `);width:1px}}</style><div class=h>x</div>`
	if got := sanitized(t, src); strings.Contains(got, "sea.jpg") || !strings.Contains(got, "width:1px !important") {
		t.Errorf("HTML(%q) = %s, want no background, and the rule for the width", src, got)
	}
}
