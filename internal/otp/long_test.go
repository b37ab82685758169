package otp_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

// Texts that have nothing to do with the mail above them.
const (
	digest = `This week in our shop: order before Friday and get 20 % off every invoice. Your account, your booking and your travel
plans are one page away. Parcels are shipped on Monday; the tracking number 7719204 is in the confirmation. Pay $49.90 with
your card or use promo code SPRING24 at checkout. Invite a friend and share a gift card, meeting ID 771 2209 4410. The order
4471209 was delivered, the ticket 20448 is closed, and customer service answers at 0800 555 0199. Backup codes and old passwords
have expired. Our terms changed on 3 May 2026: read what was updated, what was cancelled and what you have to sign.

`
	terms = `These terms govern the orders that you place with us. An invoice is due within 14 days of its date. We deliver parcels within
5 working days; the tracking number is sent to your e-mail address. Vouchers, promo codes and gift cards cannot be exchanged for
money. You may cancel a booking up to 24 hours before the date of travel. Your account may be closed when a password is shared.
Prices include 20 % tax. The contract number is on the first page. Disputes go to the court in Fernhill, file 20448.
`
	menu = "Shop\n\nOrders\n\nInvoices\n\nGift cards\n\nTrack a parcel\n\nBook a table\n\nInvite a friend\n\n"
)

// english is how many of sayings are in English.
const english = 8

// sayings are plain sentences of sign-in mails.
var sayings = []string{
	"Your Tarn code is 482913.",
	"482913 is your Tarn code. Do not share it with anyone.",
	"Use 482913 to sign in to Tarn.",
	"Your verification code:\n\n482913\n\nIt expires in ten minutes.",
	"Enter the code 482913 to reset your password.",
	"One-time password: 482913",
	"To confirm your e-mail address, type 482913 on the page.",
	"Hello Anna,\n\nyou asked to sign in. Here is your code: 482913. If this was not you, ignore this message.",
	"Ihr Tarn-Code lautet 482913.",
	"Geben Sie 482913 ein, um sich bei Tarn anzumelden.",
	"482913 est votre code Tarn. Ne le partagez avec personne.",
	"Tu código de Tarn es 482913.",
	"Il tuo codice Tarn è 482913. Scade tra 10 minuti.",
	"O seu código Tarn é 482913.",
	"Twój kod Tarn to 482913.",
	"Ваш код Tarn: 482913. Никому его не сообщайте.",
	"Tarn doğrulama kodunuz: 482913.",
	"Tarnの確認コードは482913です。",
	"您的Tarn验证码是482913，10分钟内有效。",
	"귀하의 Tarn 코드는 482913입니다.",
	"رمز Tarn الخاص بك هو 482913.",
}

// TestLengthChangesNothing holds that a plain sign-in mail is read the same with two
// kilobytes and with sixty of other text directly below, and with some lines between.
func TestLengthChangesNothing(t *testing.T) {
	const between = "We look forward to seeing you again soon, here or in the app.\n"
	for i, say := range sayings {
		for _, other := range []string{digest, terms, terms + "\n", menu} {
			if other == menu && i >= english {
				continue // the short lines of a menu vote for its language
			}
			for _, octets := range []int{2 << 10, 20 << 10, 60 << 10} {
				below := strings.Repeat(other, octets/len(other)+1)[:octets]
				for _, text := range []string{say + "\n\n" + below, say + "\n" + below, say + "\n\n" + strings.Repeat(between, 30) + below} {
					for name, m := range textAndHTML("Tarn", text) {
						if got := otp.Extract(m).Code; got != "482913" {
							t.Errorf(`%s, %q with %d octets of %.20q below: got %q, want "482913"`, name, say, octets, other, got)
						}
					}
				}
				if octets > 2<<10 && say != sayings[0] {
					break // the largest for one sentence only
				}
			}
		}
	}
}

// TestOtherTextChangesLittle holds that the labelled mails of a few languages are read
// about as well with another text around them. Languages of which few phrases are in a
// mail lose most.
func TestOtherTextChangesLittle(t *testing.T) {
	skipRereading(t)
	for name, around := range map[string]func(string) string{
		"digest below": func(s string) string { return s + "\n" + strings.Repeat(digest, 3) },
		"terms below":  func(s string) string { return s + strings.Repeat(terms, 4) },
		"menu below":   func(s string) string { return s + "\n" + strings.Repeat(menu, 20) },
		"digest above": func(s string) string { return strings.Repeat(digest, 3) + s },
	} {
		var bare, n otptest.Tally
		var few []otptest.Case
		for _, c := range corpus(t) {
			if strings.Contains("en de fr es ru ja tr id pl", c.Lang) && c.Mail.HTML == "" {
				few = append(few, c)
			}
		}
		few = third(few)
		bare = otptest.Count(few)
		for i := range few {
			few[i].Mail.Text = around(few[i].Mail.Text)
		}
		n = otptest.Count(few)
		t.Logf("%s: precision %.3f, recall %.3f, false positives %.3f; bare %.3f, %.3f", name, n.Precision(), n.Recall(), n.FalsePositives(), bare.Precision(), bare.Recall())
		if n.Precision() < 0.96 || n.Recall() < bare.Recall()-0.1 || n.FalsePositives() > 0.025 {
			t.Errorf("%s: precision %.3f, recall %.3f, false positives %.3f; want at least 0.96, at least the bare recall %.3f less 0.1, and at most 0.025", name, n.Precision(), n.Recall(), n.FalsePositives(), bare.Recall())
		}
	}
}
