package otp_test

import (
	"html"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// plain are sentences that services send every day, of the classes that were once read
// wrong.
var plain = []struct{ subject, text, want string }{
	// A noun in a warning is no referral and no delivery.
	{"Your Tarn code", "482913\n\nDo not tell it to anyone, not even a courier.", "482913"},
	{"Your Tarn code", "Your Tarn code is 482913. Never give it to anyone.", "482913"},
	{"Your Tarn code", "482913\n\nDo not share it with anyone, including our delivery partners.", "482913"},
	{"Ihr Tarn-Code", "482913\n\nGeben Sie ihn an niemanden weiter, auch nicht an einen Kurier.", "482913"},
	{"Votre code Tarn", "482913\n\nNe le partagez avec personne, pas même avec un coursier.", "482913"},
	{"Tu código de Tarn", "482913\n\nNo lo compartas con nadie, ni siquiera con un repartidor.", "482913"},
	// A service may be called after what has codes of its own.
	{"Pine Delivery", "Your Pine Delivery code is 482913.", "482913"},
	{"Pine Delivery", "482913 is your Pine Delivery code.", "482913"},
	{"Birch Post", "Ihr Birch Post-Code lautet 482913.", "482913"},
	{"Birch Mobile", "Votre code Birch Mobile est 482913.", "482913"},
	{"Birch Phone", "482913 è il tuo codice Birch Phone.", "482913"},
	{"Birch Delivery", "Vaša koda Birch Delivery je 482913.", "482913"},
	{"Vehicle", "Your code is 482913.", "482913"},
	{"Tester", "Your code: 482913", "482913"},
	{"Terminal", "Your code is 482913.", "482913"},
	{"Rechnung", "Ihr Code lautet 482913.", "482913"},
	{"Vehicle", "Vehicle 482913 is ready.", ""},
	{"shop.example", "Your shop.example code is 482913.", "482913"},
	{"Tarn", "Your Tarn delivery code is 482913.", ""},
	{"Tarn", "Delivery code: 482913", ""},
	// A number in brackets belongs to the word before it there.
	{"Fernhill", "Enter the 6-digit code for Fernhill (account 40028817).\n771904", "771904"},
	{"Fernhill", "Geben Sie den 6-stelligen Code für Fernhill ein (Konto 40028817).\n771904", "771904"},
	{"Fernhill", "Saisissez le code à 6 chiffres pour Fernhill (compte 40028817).\n771904", "771904"},
	{"Fernhill", "New sign-in to Fernhill (device 40028817).", ""},
	// Letters of both cases after a strong name.
	{"Tarn", "Your verification code is BqFLtz.", "BqFLtz"},
	{"Tarn", "Verification code: BqFLtz\nDo not share it.", "BqFLtz"},
	{"Tarn", "Ihr Bestätigungscode: BqFLtz", "BqFLtz"},
	{"Tarn", "認証コード: BqFLtz", "BqFLtz"},
	{"Tarn", "Kode verifikasi: BqFLtz", "BqFLtz"},
	{"Tarn", "Mã xác minh: BqFLtz", "BqFLtz"},
	{"Tarn", "קוד האימות: BqFLtz", "BqFLtz"},
	{"Tarn", "Egiaztapen-kodea: BqFLtz", "BqFLtz"},
	{"Tarn", "Your verification code was sent with MySQL.", ""},
	// Groups of three and four, and of four and four.
	{"Tarn", "Your Tarn code is 482-9137.", "4829137"},
	{"Tarn", "Your verification code:\n\n482-9137", "4829137"},
	{"Tarn", "Votre code Tarn est 4829-1376.", "48291376"},
	{"Tarn", "Ihr Code lautet 482 9137.", "4829137"},
	{"Tarn", "Call us at 482-9137 to sign in.", ""},
	// Digits of an example that something names, if only the subject.
	{"Your Tarn code", "123456", "123456"},
	{"Your Tarn code", "000000", "000000"},
	{"Your Tarn code", "1234", "1234"},
	{"Ihr Tarn-Code", "123456", "123456"},
	{"Tarn", "Your code is 000000.", "000000"},
	{"Tarn", "123456", ""},
	// What a service offers in its footer.
	{"Sign in to Tarn", "Your sign-in code is 482913.\n\nOrders, invoices, coupons, gift cards: manage all of it in your account.", "482913"},
	{"Your Tarn code", "482913\n\nOrders, invoices, coupons, gift cards: all in your account.", "482913"},
	{"Ihr Tarn-Code", "482913\n\nBestellungen, Rechnungen, Gutscheine, Geschenkkarten: alles in Ihrem Konto.", "482913"},
	{"Votre code Tarn", "482913\n\nCommandes, factures, bons de réduction, cartes cadeaux : tout est dans votre compte.", "482913"},
	{"Tarn", "Your coupon code is 482913.\n\nOrders, invoices, coupons, gift cards: all in your account.", ""},
}

// TestPlainSentences holds that the plainest mails are read right, as text and as HTML.
func TestPlainSentences(t *testing.T) {
	for _, c := range plain {
		for name, m := range textAndHTML(c.subject, c.text) {
			if got := otp.Extract(m).Code; got != c.want {
				t.Errorf("%s: Extract(%q, %q) = %q, want %q", name, c.subject, c.text, got, c.want)
			}
		}
	}
}

// textAndHTML returns a mail as text and as HTML with a paragraph for each of the text.
func textAndHTML(subject, text string) map[string]otp.Mail {
	p := strings.ReplaceAll(html.EscapeString(text), "\n\n", "</p><p>")
	return map[string]otp.Mail{
		"text": {Subject: subject, Text: text + "\n"},
		"HTML": {Subject: subject, HTML: "<p>" + strings.ReplaceAll(p, "\n", "<br>") + "</p>"},
	}
}
