package otptest

import (
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// Variation is a way in which some sender would have written the same mail, with
// the same code or none.
type Variation struct {
	Name   string
	change func(m *otp.Mail, code string)
}

// Of gives the mails of text alone, written so.
func (v Variation) Of(cs []Case) (all []Case) {
	for _, c := range cs {
		if c.Mail.Text != "" && c.Mail.HTML == "" {
			v.change(&c.Mail, c.Want)
			all = append(all, c)
		}
	}
	return all
}

// Variations are what senders and their programs put around a mail's words.
func Variations() []Variation {
	return []Variation{
		{"as it is", func(*otp.Mail, string) {}},
		{"in HTML, too", func(m *otp.Mail, _ string) { m.HTML = plain(m.Text) }},
		below("an address below", "\n\n--\nAcme Ltd, 12 Harbour Street, 90210 Springfield\n+1 800 555 0199 | support@acme.example\n"+
			"Unsubscribe: https://acme.example/u/5518293\n© 2026 Acme Ltd. All rights reserved.\n"),
		below("an address in one line", "\n\nAcme Ltd · 12 Harbour Street · 90210 Springfield\n"),
		below("an American address", "\n\nAcme Inc., 548 Market St, PMB 72296, San Francisco, CA 94104, USA\n"),
		below("the app below", "\nDownload our app: App Store | Google Play\nFollow us: Facebook Instagram X\n"),
		below("when it was sent", "\nSent on 4 November 2026 at 14:32 from 203.0.113.7, Berlin, Germany\n"),
		below("a reference below", "\nRequest ID: 88213-4471\n"),
		above("a greeting above", "Hi anna.schmidt42,\n\n"),
		above("an image above", "[image: Acme]\n\n"),
		above("a link above", "Acme ( https://acme.example/?utm_id=440192&d=20261104 )\n\n"),
		above("a link to the page above", "View in browser: https://acme.example/v/449201\n\n"),
		{"between rules", func(m *otp.Mail, _ string) {
			m.Text = "ACME\n" + strings.Repeat("=", 60) + "\n\n" + m.Text + "\n" + strings.Repeat("-", 60) + "\n"
		}},
		subject("the sender in brackets", "[Acme] ", ""), subject("the sender before", "Acme: ", ""),
		subject("the sender after", "", " - Acme"), subject("a sign before", "🔐 ", ""),
		around("stars around", "*"), around("two stars around", "**"), around("lines around", "_"),
		around("quotes around", "`"),
		{"lines of 72", func(m *otp.Mail, _ string) { m.Text = wrapped(m.Text, 72) }},
		{"lines of 40", func(m *otp.Mail, _ string) { m.Text = wrapped(m.Text, 40) }},
		{"empty lines between", func(m *otp.Mail, _ string) { m.Text = strings.ReplaceAll(m.Text, "\n", "\n\n") }},
		{"in one line", func(m *otp.Mail, _ string) { m.Text = strings.Join(strings.Fields(m.Text), " ") }},
		{"indented", func(m *otp.Mail, _ string) { m.Text = "    " + strings.ReplaceAll(m.Text, "\n", "\n    ") }},
	}
}

func below(name, text string) Variation {
	return Variation{name, func(m *otp.Mail, _ string) { m.Text += text }}
}

func above(name, text string) Variation {
	return Variation{name, func(m *otp.Mail, _ string) { m.Text = text + m.Text }}
}

func subject(name, before, after string) Variation {
	return Variation{name, func(m *otp.Mail, _ string) { m.Subject = before + m.Subject + after }}
}

func around(name, sign string) Variation {
	return Variation{name, func(m *otp.Mail, code string) {
		if code != "" {
			m.Text = strings.ReplaceAll(m.Text, code, sign+code+sign)
		}
	}}
}

// wrapped breaks lines between words so that they are as short as some programs
// make them.
func wrapped(text string, width int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		column := 0
		for i, word := range strings.Fields(line) {
			n := len([]rune(word))
			switch {
			case i == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
		b.WriteByte('\n')
	}
	return b.String()
}
