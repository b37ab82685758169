package otp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// TestTextsThatStandApart holds that a code ends where the screen shows another text
// begin, though nothing in the source parts the two.
func TestTextsThatStandApart(t *testing.T) {
	const label = `<p>Your verification code is</p>`
	for _, c := range []struct{ name, html, want string }{
		{"button", label + `<div><b>482913</b><button>Copy</button></div>`, "482913"},
		{"button with a margin", label + `<div><b>482913</b><button style="margin-left:12px">Copy</button></div>`, "482913"},
		{"button, German", `<p>Ihr Bestätigungscode</p><p><b>482913</b><button>Kopieren</button></p>`, "482913"},
		{"button, Chinese", `<p>您的验证码</p><p><b>482913</b><button>复制</button></p>`, "482913"},
		{"button, Arabic", `<p>رمز التحقق<b>482913</b><button>نسخ</button></p>`, "482913"},
		{"another element", label + `<div><b>482913</b><span>Copy</span></div>`, "482913"},
		{"another element, Russian", `<p>Код подтверждения<b>482913</b><span>Скопировать</span></p>`, "482913"},
		{"link", label + `<p><b>482913</b><a href="https://a.example/c">Copy code</a></p>`, "482913"},
		{"italics", label + `<p><b>482913</b><i>valid for ten minutes</i></p>`, "482913"},
		{"small print", `<p>Verification code<br><font size="6">482913</font><font size="1">Expires in 10 min</font></p>`, "482913"},
		{"prefix that belongs to it", label + `<p>G-<b>482913</b><span>Copy</span></p>`, "G-482913"},
		{"mixed code and button", label + `<p><b>K7P2XD</b><button>Copy</button></p>`, "K7P2XD"},
		{"mixed code and link", label + `<p><b>K7P2XD</b><a href="https://a.example/c">Copy</a></p>`, "K7P2XD"},
		{"letters and link", label + `<p><b>KXPQTR</b><a href="https://a.example/c">Copy</a></p>`, "KXPQTR"},
		{"label and mixed code", `<p><span>Verification code</span><b>K7P2XD</b></p>`, "K7P2XD"},
		{"label as a block", `<label style="display:block">Verification code</label><b>482913</b><small>expires soon</small>`, "482913"},
		{"inline-block", label + `<p><span style="display:inline-block">482913</span><span style="display:inline-block">10 minutes left</span></p>`, "482913"},
		{"inline-block in a sentence", `<p>Your verification code is <span style="display:inline-block;padding:6px">482913</span>.</p>`, "482913"},
		{"important", `<p><b style="display:inline-block!important">Verification code</b><b style="display: BLOCK !important">482913</b>10 min</p>`, "482913"},
		{"flex", `<div style="display:flex"><span>Your verification code</span><b>482913</b><span>10 min</span></div>`, "482913"},
		{"inline-flex", `<div style="display: inline-flex"><span>Verification code</span><span>482913</span></div>`, "482913"},
		{"grid", `<div style="display:grid"><span>Verification code</span><span>482913</span><span>Expires in</span><span>10 minutes</span></div>`, "482913"},
		{"float", `<div><span style="float:left">Verification code</span><b>482913</b><span style="float:right">10 min</span></div>`, "482913"},
		{"position", `<p>Verification code</p><div><span>482913</span><span style="position:absolute;right:0">7 min</span></div>`, "482913"},
		{"padding", `<div><span style="padding-right:16px">Verification code</span><b>482913</b></div>`, "482913"},
		{"margin of four sides", `<div><span style="margin:0 16px 0 0">Verification code:</span><b>482913</b></div>`, "482913"},
		{"cells", `<table><tr><td>Verification code</td><td>482913</td><td>7 min</td></tr></table>`, "482913"},
		{"cells by style", `<div style="display:table-row"><span style="display:table-cell">Verification code</span><span style="display:table-cell">482913</span></div>`, "482913"},
		{"list on one line", `<ul><li style="display:inline-block">Verification code</li><li style="display:inline-block">482913</li><li style="display:inline-block">7 min</li></ul>`, "482913"},
		{"details", `<details><summary>Verification code</summary>482913</details>`, "482913"},
		{"caption", `<figure>482913<figcaption>Verification code</figcaption></figure>`, "482913"},
		{"legend", `<fieldset><legend>Verification code</legend>482913<small>Expires soon</small></fieldset>`, "482913"},
		{"image", `<p>Your verification code</p><p>482913<img src="https://a.example/c.png">Copy</p>`, "482913"},
		{"field", `<p>Your verification code</p><p>482913<input>Copy</p>`, "482913"},

		{"number", `<p>Your verification code: <b>482913</b><i>10 min</i></p>`, "482913"},
		{"note", `<p>Your verification code is 482913<sup>1</sup>.</p><p><sup>1</sup> Valid for ten minutes.</p>`, "482913"},
		{"note in brackets", `<p>Your verification code is <b>482913<sup><a href="#n1">[1]</a></sup></b>.</p>`, "482913"},
		{"note before", `<p>Your verification code is <sup>1</sup>482913.</p>`, "482913"},
		{"note by style", `<p>Your verification code is <b>482913</b><span style="vertical-align:super;font-size:10px">2</span></p>`, "482913"},
		{"letter as a note", `<p>Your verification code is <b>482913</b><sup>a</sup></p>`, "482913"},
		{"words above the line", `<p>Your verification code is <b>482913</b><sup>10 min</sup></p>`, "482913"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCode(t, otp.Mail{HTML: c.html}, c.want) })
	}
}

// TestCodeInPieces holds that a code is read whole where each of its letters or pairs has
// an element of its own, whatever parts them on the screen.
func TestCodeInPieces(t *testing.T) {
	pieces := map[string][]string{
		"482913": {"4", "8", "2", "9", "1", "3"},
		"K7P2XD": {"K", "7", "P", "2", "X", "D"},
	}
	for name, frame := range map[string][3]string{
		"spans":         {`<p>`, `<span>%s</span>`, `</p>`},
		"bold spans":    {`<p>`, `<span><b>%s</b></span>`, `</p>`},
		"spans parted":  {`<p>`, "<span style=\"display:inline-block\">%s</span>\n", `</p>`},
		"inline-block":  {`<p>`, `<span style="display:inline-block">%s</span>`, `</p>`},
		"padding":       {`<p>`, `<span style="padding:2px 9px">%s</span>`, `</p>`},
		"margin":        {`<p>`, `<span style="margin-right:8px">%s</span>`, `</p>`},
		"float":         {`<p>`, `<span style="float:left">%s</span>`, `</p>`},
		"flex":          {`<div style="display:flex">`, `<span>%s</span>`, `</div>`},
		"grid":          {`<div style="display:grid">`, `<b>%s</b>`, `</div>`},
		"cells":         {`<table><tr>`, `<td>%s</td>`, `</tr></table>`},
		"table-cell":    {`<p>`, `<span style="display:table-cell">%s</span>`, `</p>`},
		"inline blocks": {``, `<div style="display:inline">%s</div>`, ``},
		"blocks":        {``, `<div>%s</div>`, ``},
	} {
		for code, parts := range pieces {
			html := `<p>Your verification code</p>` + frame[0]
			for _, p := range parts {
				html += fmt.Sprintf(frame[1], p)
			}
			t.Run(name+" "+code, func(t *testing.T) { wantCode(t, otp.Mail{HTML: html + frame[2]}, code) })
		}
	}
	for _, c := range []struct{ name, html, want string }{
		{"and a button", `<p>Verification code</p><p><span>K</span><span>7</span><span>P</span><span>2</span><span>X</span><span>D</span><button>Copy</button></p>`, "K7P2XD"},
		{"and a word", `<p>Verification code</p><p><span>4</span><span>8</span><span>2</span><span>9</span><span>Copy</span></p>`, "4829"},
		{"two by two", `<p>Your verification code: <span>K7</span><span>P2</span><span>XD</span></p>`, "K7P2XD"},
		{"halves with a hyphen", `<p>Your verification code is <span style="padding:6px">482</span>-<span style="padding:6px">913</span>.</p>`, "482913"},
		{"something hidden inside", `<p>Your verification code: K7<span style="display:none">9</span>P2XD</p>`, "K7P2XD"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCode(t, otp.Mail{HTML: c.html}, c.want) })
	}
}

// wantCode holds that a mail has a code, or none if it is empty.
func wantCode(t *testing.T, m otp.Mail, want string) {
	t.Helper()
	e := otp.Explain(m)
	if e.Result.Code != want {
		var why strings.Builder
		for _, c := range e.Candidates {
			fmt.Fprintf(&why, "\n\t%+v", c)
		}
		t.Errorf("Extract(%+v) gives the code %q, want %q%s", m, e.Result.Code, want, why.String())
	}
}
