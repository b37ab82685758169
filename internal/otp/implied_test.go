package otp

import (
	"slices"
	"testing"
)

// A hidden element hides no more than its content, also where it has no end tag
// or cannot have one: a link behind it is read.
func TestHiddenElementsEnd(t *testing.T) {
	const link = `<a href="https://a.example/verify?t=1">Verify</a>`
	for _, html := range []string{
		`<input type="checkbox" style="display:none"/><p>` + link,
		`<p style="display:none">Hello<p>` + link,
		`<p style="display:none" class="preheader-of-the-mail">Hello<p style="display:none" class="preheader-of-the-mail">Hello<p>` + link,
		`<p hidden>Hello<div>` + link + `</div>`,
		`<div><p hidden>Hello</div>` + link,
		`<ul><li hidden>Hello<li>` + link + `</ul>`,
		`<table><tr><td hidden>Hello<td>` + link + `</table>`,
		`<table><tr hidden><td>Hello<tr><td>` + link + `</table>`,
		`<table><thead hidden><tr><td>Hello<tbody><tr><td>` + link + `</table>`,
		`<dl><dt hidden>Hello<dd>` + link + `</dl>`,
		`<img style="display:none"><br hidden><hr style="display:none"><source hidden><wbr hidden>` + link,
	} {
		if got := Extract(Mail{HTML: html}).Links; !slices.Equal(got, []string{"https://a.example/verify?t=1"}) {
			t.Errorf("Extract(%q).Links = %q, want the link that is shown", html, got)
		}
	}
	const hidden = `<p hidden><span>Hello` + link
	if got := Extract(Mail{HTML: hidden}).Links; len(got) != 0 {
		t.Errorf("Extract(%q).Links = %q, want none", hidden, got)
	}
}
