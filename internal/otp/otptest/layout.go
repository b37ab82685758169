package otptest

import (
	"fmt"
	"html"
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// layouts dress a text in HTML as senders do, with what is in their templates
// and is no code: colours, pixels, preheaders, addresses in the footer.
var layouts = map[string]func(m *otp.Mail, body, code string){
	"card":  func(m *otp.Mail, body, code string) { m.HTML = card(body, code, large) },
	"cells": func(m *otp.Mail, body, code string) { m.HTML = card(body, code, cells) },
	"spans": func(m *otp.Mail, body, code string) { m.HTML = card(body, code, spans) },
	"divs":  func(m *otp.Mail, body, code string) { m.HTML = card(body, code, divs) },
	"plain": func(m *otp.Mail, body, _ string) { m.HTML = plain(body) },
	"both": func(m *otp.Mail, body, code string) {
		m.Text, m.HTML = body, card(body, code, large)
	},
	"entities": func(m *otp.Mail, body, code string) { m.HTML = card(body, code, entities) },
}

const head = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>Mail 20260412</title>
<style>body{margin:0;color:#102938}.b482913{color:#482913;font-size:16px}@media (max-width:600px){.w{width:100%!important}}</style></head>
<body bgcolor="#f4f5f7"><!-- template 990817 / build 20260317 -->
<img src="https://t.example/o/118822993/pixel.gif?u=7719283" width="1" height="1" alt="">
`

const foot = `<p style="font-size:11px;color:#888888">&copy; 2026 Example Ltd, 12 Harbour Street, 90210 Springfield &middot; +1 800 555 0199<br>
<a href="https://t.example/u/5518293/unsubscribe">unsubscribe</a></p></td></tr></table></body></html>`

func card(body, code string, show func(string) string) string {
	var b strings.Builder
	b.WriteString(head)
	first := true
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case line == code:
			b.WriteString(show(line))
		case first:
			fmt.Fprintf(&b, `<div style="display:none;max-height:0;overflow:hidden">%s &#847;&zwnj;&nbsp;&#847;</div><table width="600" cellpadding="0" class="w"><tr><td style="padding:24px 32px;font-family:Arial"><p>%s</p>`, html.EscapeString(line), html.EscapeString(line))
			first = false
		default:
			fmt.Fprintf(&b, "<p style=\"margin:0 0 16px;line-height:24px\">%s</p>\n", html.EscapeString(line))
		}
	}
	b.WriteString(foot)
	return b.String()
}

func large(code string) string {
	return fmt.Sprintf(`<div style="font-size:32px;font-weight:700;letter-spacing:6px;background:#eef1f4;text-align:center">%s</div>`, code)
}

func cells(code string) string {
	return `<table role="presentation"><tr>` + each(code, `<td style="width:40px;border:1px solid #cccccc">%c</td>`) + `</tr></table>`
}

func spans(code string) string {
	return `<p>` + each(code, `<span style="padding:8px">%c</span>`) + `</p>`
}

func divs(code string) string {
	return `<div>` + each(code, "<div class=\"d\">%c</div>\n") + `</div>`
}

func entities(code string) string { return `<h2>` + each(code, "&#%d;") + `</h2>` }

func each(code, format string) string {
	var b strings.Builder
	for _, r := range code {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func plain(body string) string {
	return "<html><body>" + strings.ReplaceAll(html.EscapeString(body), "\n", "<br>\n") + "</body></html>"
}

// Twice gives the mails that are text alone as most senders send them: the text,
// and the same in HTML beside it.
func Twice(cs []Case) []Case { return twice().Of(cs) }

func twice() Variation {
	return Variation{Name: "HTML of the same", change: func(m *otp.Mail, _ string) { m.HTML = plain(m.Text) }}
}
