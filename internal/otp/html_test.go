package otp_test

import (
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

func TestHTML(t *testing.T) {
	for _, c := range []struct{ name, html, want string }{
		{"style and script", `<style>.a{content:"code 111111"}</style><script>code=222222</script><p>Your code is 333444</p>`, "333444"},
		{"comment", `<!-- your code is 111111 --><p>Your code is 333444</p>`, "333444"},
		{"attribute", `<p title="your code is 111111" data-code='222222'>Your code is 333444</p>`, "333444"},
		{"attribute with a greater-than", `<a title="a > b" href=#>x</a> Your code is 333444`, "333444"},
		{"colour", `<p style="color:#111111">Your code is</p><p>333444</p>`, "333444"},
		{"digit to a cell", `Your code<table><tr><td>3</td><td>3</td><td>3</td><td>4</td><td>4</td><td>4</td></tr></table>`, "333444"},
		{"digit to a span", `Your code: <span>3</span><span>3</span><span>3</span><span>4</span><span>4</span><span>4</span>`, "333444"},
		{"digit to a block", `Your code:<div>3</div><div>3</div><div>3</div><div>4</div><div>4</div><div>4</div>`, "333444"},
		{"hidden digits inside", `Your code is 33<span style="display:none">99</span>3444`, "333444"},
		{"hidden preheader", `<div style="display:none">Your code is 333444</div><p>Welcome</p><p>Enter the code</p>`, "333444"},
		{"shown before hidden", `<div style="max-height:0">Your code is 111111</div><p>Your code is 333444</p>`, "333444"},
		{"entities", `Your code is &#51;&#x33;3&#52;44`, "333444"},
		{"soft hyphens", `Your code is 333&shy;444`, "333444"},
		{"dash in a cell", `Your code<table><tr><td>3</td><td>3</td><td>3</td><td>&ndash;</td><td>4</td><td>4</td><td>4</td></tr></table>`, "333444"},
		{"size in a shorthand", `<p>Your sign-in code (ref. 704418):</p><p style="font:bold 28px/1.2 monospace">333 444</p><p>ext. 2047</p>`, "333444"},
		{"weight in a shorthand", `<p>Welcome!</p><p style="font:700 12px Arial">333444</p>`, ""},
		{"unclosed", `<table><tr><td><p>Your code<td><b>333444`, "333444"},
		{"unclosed comment", `Your code is 333444 <!-- `, "333444"},
		{"upper case", `<P STYLE="DISPLAY:NONE">Your code is 111111</P><P>Your code is 333444</P>`, "333444"},
		{"no size outside, one inside", `<td style="font-size:0px"><div style="font-size:13px">Your code is</div><div style="letter-spacing:4px;font-size:14px">333444</div></td>`, "333444"},
		{"no size", `<p>Your code is on its way.</p><p style="font-size:0">code 333444</p><p>Enter your code 111222</p>`, "111222"},
		{"quoted mail", `<p>Thanks!</p><div class="gmail_quote">Your code is 333444</div>`, ""},
		{"strong, in a mail about signing in", `<p>Hello. Your account is to be verified, and the page behind it wants <b>20477</b> from you.</p>`, "20477"},
		{"instead of an image", `<p>Your code is</p><img src="c.png" alt="333444"><p>Valid for five minutes.</p>`, "333444"},
		{"instead of images", `<p>Your code is</p><img alt="3"><img alt="3"><img alt="3"><img alt="4"><img alt="4"><img alt="4">`, "333444"},
		{"tracking pixel", `<p>Your code is on its way.</p><img src="https://t.example/482913.gif">`, ""},
		{"address in the footer", `<p>Your code is on its way.</p><p>1204 Broad Street, 07102 Newark, unsubscribe</p>`, ""},
		{"button", `<p>Enter the code</p><p><a href="https://a.example">CONTINUE</a></p>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := otp.Explain(otp.Mail{HTML: c.html})
			if e.Result.Code != c.want {
				t.Errorf("Explain finds %q, want %q: %+v", e.Result.Code, c.want, e.Candidates)
			}
		})
	}
}

// TestARepeatedTagIsReadInItsPlace holds that a tag that was read before takes the
// look of what is around it now.
func TestARepeatedTagIsReadInItsPlace(t *testing.T) {
	const p, link = `<p style="margin: 0 0 16px 0">`, `<a href="https://a.example/verify?token=1" id="x">`
	hidden, struck := `<div style="display:none">`+p+`Your code is 111111</p></div>`, `<del>`+p+`Your code is 222222</p></del>`
	shown := p + `Your code is 482913</p>`
	for _, html := range []string{hidden + struck + shown, struck + hidden + shown, shown + hidden + struck} {
		if got := otp.Extract(otp.Mail{HTML: html}).Code; got != "482913" {
			t.Errorf(`%q in %s, want "482913"`, got, html)
		}
	}
	html := `<div class="gmail_quote">` + link + `Verify</a></div>` + link + `Verify your address</a>` + link
	if got := otp.Extract(otp.Mail{HTML: html}).Links; !slices.Equal(got, []string{"https://a.example/verify?token=1"}) {
		t.Errorf("links %q in %s, want %v", got, html, []string{"https://a.example/verify?token=1"})
	}
}

func TestLinks(t *testing.T) {
	for _, c := range []struct {
		name string
		mail otp.Mail
		want []string
	}{
		{
			"button and footer",
			otp.Mail{HTML: `<a href="https://a.example/x1">Verify your email</a> <a href="https://a.example/unsubscribe?token=1">Unsubscribe</a> <a href="https://a.example/help">Help</a>`},
			[]string{"https://a.example/x1"},
		},
		{
			"best first",
			otp.Mail{HTML: `<a href="https://a.example/account">Log in</a><br><a href="https://a.example/confirm?token=9&amp;x=1">Confirm your email</a>`},
			[]string{"https://a.example/confirm?token=9&x=1", "https://a.example/account"},
		},
		{"plain text", otp.Mail{Text: "To sign in, open\nhttps://a.example/magic/abc.\n\nHelp: https://a.example/help"}, []string{"https://a.example/magic/abc"}},
		{"both parts", otp.Mail{Text: "Verify: https://a.example/verify/1", HTML: `<a href="https://a.example/verify/1">here</a>`}, []string{"https://a.example/verify/1"}},
		{"other language", otp.Mail{HTML: `<a href="https://a.example/q">E-Mail-Adresse bestätigen</a>`}, []string{"https://a.example/q"}},
		{"no web address", otp.Mail{HTML: `<a href="mailto:verify@a.example">Verify</a><a href="javascript:verify()">Verify</a>`}, nil},
		{"report link", otp.Mail{HTML: `<a href="https://a.example/verify/report?not-me=1">This wasn't you?</a>`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := otp.Extract(c.mail).Links; !slices.Equal(got, c.want) {
				t.Errorf("Extract finds the links %q, want %q", got, c.want)
			}
		})
	}
}
