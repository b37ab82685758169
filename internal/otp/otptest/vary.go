package otptest

import (
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// Variation is a way in which some sender would have written the same mail, with
// the same code or none.
type Variation struct {
	Name   string
	lang   string // of the mails that it is for; empty: all
	change func(m *otp.Mail, code string)
}

// Of gives the mails of text alone, written so.
func (v Variation) Of(cs []Case) (all []Case) {
	for _, c := range cs {
		if c.Mail.Text != "" && c.Mail.HTML == "" && (v.lang == "" || v.lang == c.Lang) {
			v.change(&c.Mail, c.Want)
			all = append(all, c)
		}
	}
	return all
}

// Variations are what senders and their programs put around a mail's words.
func Variations() []Variation {
	return []Variation{
		{Name: "nothing", change: func(*otp.Mail, string) {}},
		twice(),
		below("an address below", "\n\n--\nAcme Ltd, 12 Harbour Street, 90210 Springfield\n+1 800 555 0199 | support@acme.example\n"+
			"Unsubscribe: https://acme.example/u/5518293\n© 2026 Acme Ltd. All rights reserved.\n"),
		below("an address in one line", "\n\nAcme Ltd · 12 Harbour Street · 90210 Springfield\n"),
		below("an American address", "\n\nAcme Inc., 548 Market St, PMB 72296, San Francisco, CA 94104, USA\n"),
		below("a German notice", "\n\nAcme GmbH, Musterstraße 12, 10115 Berlin\nAmtsgericht Charlottenburg, HRB 204771 B, USt-IdNr. DE204771559, Geschäftsführerin: Erika Beispiel\n"),
		below("a French notice", "\n\nAcme SAS au capital de 10 000 €, 12 rue de la Paix, 75002 Paris, RCS Paris 482 913 004\n"),
		below("a British notice", "\n\nAcme Ltd. Registered in England and Wales No. 04829130. Registered office: 12 High Street, London SW1A 1AA.\n"),
		below("a Spanish notice", "\n\nAcme, S.L. | CIF B48291304 | Calle Mayor, 12, 28013 Madrid\n"),
		below("an Italian notice", "\n\nAcme S.r.l. - Via Roma 12 - 20121 Milano - P. IVA 04829130047\n"),
		below("a Dutch notice", "\n\nAcme B.V., Keizersgracht 12, 1015 CN Amsterdam, KvK 48291304\n"),
		below("a Polish notice", "\n\nAcme sp. z o.o., ul. Prosta 12, 00-850 Warszawa, KRS 0000482913, NIP 5252482913\n"),
		below("a Russian notice", "\n\nООО «Акме», ИНН 7701482913, 125009, Москва, ул. Тверская, д. 12\n"),
		below("a Japanese notice", "\n\n株式会社アクメ\n〒150-0002 東京都渋谷区渋谷2-21-1\n"),
		below("a Chinese notice", "\n\n北京阿克梅科技有限公司 京ICP备12048291号\n"),
		below("a Brazilian notice", "\n\nAcme Ltda. CNPJ 12.345.678/0001-90, Av. Paulista, 1000, 01310-100 São Paulo - SP\n"),
		below("an Indian notice", "\n\nAcme Pvt. Ltd., 4th Floor, Tower B, Bandra Kurla Complex, Mumbai 400051\n"),
		below("a Swedish notice", "\n\nAcme AB, Storgatan 12, 113 45 Stockholm, org.nr 556482-9130\n"),
		below("a Turkish notice", "\n\nAcme A.Ş., Atatürk Cad. No: 12, 34349 Beşiktaş/İstanbul\n"),
		below("a Korean notice", "\n\n주식회사 아크메 | 사업자등록번호 120-81-48291 | 서울특별시 강남구 테헤란로 12 (06236)\n"),
		below("the app below", "\nDownload our app: App Store | Google Play\nFollow us: Facebook Instagram X\n"),
		below("when it was sent", "\nSent on 4 November 2026 at 14:32 from 203.0.113.7, Berlin, Germany\n"),
		below("help below", "\nNeed help? Call 1-800-555-0199 or write to help@acme.example. This is an automated message, please do not reply.\n"),
		below("a customer's number below", "\nAcme customer number: 20441788\n"),
		below("a build below", "\nAcme v4.12.0 (build 20451)\n"),
		below("a reference below", "\nRequest ID: 88213-4471\n"),
		above("a greeting above", "Hi anna.schmidt42,\n\n"),
		above("an image above", "[image: Acme]\n\n"),
		above("a link above", "Acme ( https://acme.example/?utm_id=440192&d=20261104 )\n\n"),
		above("a link to the page above", "View in browser: https://acme.example/v/449201\n\n"),
		{Name: "between rules", change: func(m *otp.Mail, _ string) {
			m.Text = "ACME\n" + strings.Repeat("=", 60) + "\n\n" + m.Text + "\n" + strings.Repeat("-", 60) + "\n"
		}},
		subject("the sender in brackets", "[Acme] ", ""), subject("the sender before", "Acme: ", ""),
		subject("the sender after", "", " - Acme"), subject("a sign before", "🔐 ", ""),
		around("stars around", "*"), around("two stars around", "**"), around("lines around", "_"),
		around("quotes around", "`"),
		{Name: "lines of 72", change: func(m *otp.Mail, _ string) { m.Text = wrapped(m.Text, 72) }},
		{Name: "lines of 40", change: func(m *otp.Mail, _ string) { m.Text = wrapped(m.Text, 40) }},
		{Name: "empty lines between", change: func(m *otp.Mail, _ string) { m.Text = strings.ReplaceAll(m.Text, "\n", "\n\n") }},
		{Name: "in one line", change: func(m *otp.Mail, _ string) { m.Text = strings.Join(strings.Fields(m.Text), " ") }},
		{Name: "indented", change: func(m *otp.Mail, _ string) { m.Text = "    " + strings.ReplaceAll(m.Text, "\n", "\n    ") }},
	}
}

func below(name, text string) Variation {
	return Variation{Name: name, change: func(m *otp.Mail, _ string) { m.Text += text }}
}

func above(name, text string) Variation {
	return Variation{Name: name, change: func(m *otp.Mail, _ string) { m.Text = text + m.Text }}
}

func subject(name, before, after string) Variation {
	return Variation{Name: name, change: func(m *otp.Mail, _ string) { m.Subject = before + m.Subject + after }}
}

func around(name, sign string) Variation {
	return Variation{Name: name, change: func(m *otp.Mail, code string) {
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
