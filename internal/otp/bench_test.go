package otp_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

// letter is the prose of a service that has something to explain.
const letter = `Dear Alexandra,

we are writing because you asked us on 12 March to change how you sign in. From
next month every change of your profile has to be confirmed, and the team that
looks after your account would like you to know what to expect. Nothing changes
for the way you read, write or share your documents, and nobody but you can see
what you keep in your private folders.

Many readers have told us that the old page was hard to find. We moved it to the
top of the settings, next to the language and the time zone. If you use a phone,
swipe to the right; if you use a desktop computer, look for the small wheel. The
new page also shows which devices were used lately, and you can remove those you
no longer own. Should you ever lose a device, remove it there first and tell us
afterwards: our office is open from Monday to Friday between 8:00 and 18:00.

We also took the opportunity to clean up our terms. They are shorter now, and we
tried to write them so that they can be read without a lawyer. The most important
points are these: your work belongs to you, we do not sell what we know about you,
and you may take everything with you when you leave. Those who prefer paper can
order a printed copy from our shop in Harbour Street.

`

// textMail is a text mail of 4 KiB with its code in the middle.
func textMail() otp.Mail {
	half := cut(letter+letter, 2000)
	return otp.Mail{Subject: "About your account", Text: half + "\n\nYour verification code is 482913.\n\n" + half}
}

// htmlMail is an HTML mail of 100 KiB as newsletter tools write them.
func htmlMail() otp.Mail {
	const row = `<tr><td align="center" style="padding:12px 24px;font-family:Arial,Helvetica,sans-serif;font-size:14px;line-height:22px;color:#333333;border-bottom:1px solid #eeeeee"><a href="https://click.example/track/9918273/6612094?u=482913&amp;c=20260312" style="color:#1a73e8;text-decoration:none" target="_blank"><img src="https://cdn.example/i/4829130/header.png" width="552" height="120" alt="" style="display:block;border:0"></a><p style="margin:0 0 8px">Read what 1204 others said about item 77120 this week.</p></td></tr>
`
	var b strings.Builder
	b.WriteString("<html><head><style>" + strings.Repeat(".a1{color:#482913;padding:0 12px}\n", 200) + "</style></head><body><table>")
	for b.Len() < 50<<10 {
		b.WriteString(row)
	}
	b.WriteString(`<tr><td><p>Your verification code is</p><p style="font-size:32px">482913</p></td></tr>`)
	for b.Len() < 100<<10 {
		b.WriteString(row)
	}
	b.WriteString("</table></body></html>")
	return otp.Mail{Subject: "Verify your address", HTML: b.String()}
}

// signIn is a sign-in mail as shops send it: the code early, then so many octets
// of text, and a page of so many rows.
func signIn(octets, rows int) otp.Mail {
	const row = `<table width="560" style="border-collapse:collapse"><tr><td style="padding:8px;color:#555555;font-family:Arial,sans-serif">A quiet lamp for the corner table, of copper and paper.</td>
<td align="right"><a href="https://shop.example/item/lamp?ref=mail" style="color:#3869d4">Look at it</a></td></tr></table>
`
	m := otp.Mail{
		Subject: "482913 is your Shop sign-in code",
		Text:    "Hello,\n\nyou asked to sign in to your account. Your sign-in code is:\n\n    482913\n\nIt is valid for 10 minutes.\n\n",
	}
	m.Text += cut(letter+letter, octets)
	if rows > 0 {
		m.HTML = `<html><head><style>.c{font-size:28px}</style></head><body><p>Your sign-in code is</p><p class="c">482913</p>` + strings.Repeat(row, rows) + `</body></html>`
	}
	return m
}

func cut(s string, n int) string { return s[:min(n, len(s))] }

// linksMail is a newsletter of a shop.
func linksMail() otp.Mail {
	var html strings.Builder
	html.WriteString("<p>Your sign-in code is</p><p><b>482913</b></p>")
	for i := range 75 {
		fmt.Fprintf(&html, "<table><tr><td>A quiet lamp for winter evenings by the harbour.</td><td><a href=\"https://shop.example/item/%d\">Look at it</a></td></tr></table>\r\n", i)
	}
	return otp.Mail{Subject: "482913 is your sign-in code", Text: "Your sign-in code is 482913.", HTML: html.String()}
}

func BenchmarkText4KiB(b *testing.B)   { bench(b, textMail()) }
func BenchmarkHTML100KiB(b *testing.B) { bench(b, htmlMail()) }
func BenchmarkManyLinks(b *testing.B)  { bench(b, linksMail()) }
func BenchmarkShortMail(b *testing.B)  { bench(b, otp.Mail{Text: "Your code is 482913."}) }
func BenchmarkSignIn(b *testing.B) {
	b.Run("text", func(b *testing.B) { bench(b, signIn(3500, 0)) })
	b.Run("both", func(b *testing.B) { bench(b, signIn(1500, 3)) })
	b.Run("large", func(b *testing.B) { bench(b, signIn(3000, 75)) })
}

func BenchmarkLabelled(b *testing.B) {
	cs, err := otptest.Read(os.DirFS("testdata"), "corpus")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, c := range cs {
			otp.Extract(c.Mail)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(cs)), "µs/mail")
}

func bench(b *testing.B, m otp.Mail) {
	b.SetBytes(int64(len(m.Text) + len(m.HTML)))
	b.ReportAllocs()
	for b.Loop() {
		if otp.Extract(m).Code != "482913" {
			b.Fatal("Extract found no code or another one, want 482913")
		}
	}
}

// BenchmarkHostile doubles hostile inputs: the time per byte must not grow.
func BenchmarkHostile(b *testing.B) {
	for name, unit := range hostile {
		for _, n := range []int{16 << 10, 32 << 10, 64 << 10, 128 << 10} {
			s := strings.Repeat(unit, n/len(unit)+1)[:n]
			b.Run(fmt.Sprintf("%s/%dKiB", name, n>>10), func(b *testing.B) {
				b.SetBytes(int64(2 * n))
				for b.Loop() {
					otp.Extract(otp.Mail{Text: s, HTML: s})
				}
			})
		}
	}
}

// hostile are texts that, repeated, make careless extractors slow.
var hostile = map[string]string{
	"digits":    "7",
	"spaced":    "1 2 3 4 5 6 ",
	"codes":     "code 482913 ",
	"opens":     "<div>",
	"quotes":    "<a b='",
	"brackets":  "<",
	"comments":  "<!--",
	"styles":    "<style>",
	"entities":  "&#49;",
	"ampersand": "&",
	"kod":       "kod",
	"nummer":    "bestellnummer",
	"marks":     "verification verification code code ",
	"at":        "a@",
	"slashes":   "a.b/",
	"hyphens":   "1-",
	"lines":     "1\n",
	"punct":     "482913 .......... ",
	"combining": "a\u0301\u0302",
	"cells":     "<td>1",
	"hidden":    "<p style='display:none'>1",
	"links":     "<a href=http://a/verify>x",
}
