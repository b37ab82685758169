package otp_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// digest is what shops and portals put below their mails.
const digest = `This week in our shop: order before Friday and get 20 % off every invoice. Your account, your booking and your travel
plans are one page away. Parcels are shipped on Monday; the tracking number 7719204 is in the confirmation. Pay $49.90 with
your card or use promo code SPRING24 at checkout. Invite a friend and share a gift card, meeting ID 771 2209 4410. The order
4471209 was delivered, the ticket 20448 is closed, and customer service answers at 0800 555 0199. Backup codes and old passwords
have expired. Our terms changed on 3 May 2026: read what was updated, what was cancelled and what you have to sign.

`

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
}

// TestLengthChangesNothing holds that a plain sign-in mail is read the same with two
// kilobytes and with sixty of other text below, and is read where some lines stand
// between. Half of them are not read yet where the other text follows at once.
func TestLengthChangesNothing(t *testing.T) {
	missed := map[int]int{}
	for _, say := range sayings {
		for _, octets := range []int{2 << 10, 20 << 10, 60 << 10} {
			text := strings.Repeat(digest, octets/len(digest)+1)[:octets]
			if !longRead(say, text) {
				missed[octets]++
			}
			if gap := strings.Repeat("We look forward to seeing you again soon, here or in the app.\n", 30); !longRead(say, gap+text) {
				t.Errorf("%q, with %d octets far below, is not read", say, octets)
			}
		}
	}
	for octets, n := range missed {
		if n > len(sayings)/2 || n != missed[2<<10] {
			t.Errorf("with %d octets below %d of %d mails are not read, with 2 KiB %d", octets, n, len(sayings), missed[2<<10])
		}
	}
}

// longRead reports whether a sentence with a text below is read, as text and as HTML.
func longRead(say, below string) bool {
	text := say + "\n\n" + below
	html := "<p>" + strings.ReplaceAll(text, "\n\n", "</p><p>") + "</p>"
	return otp.Extract(otp.Mail{Subject: "Tarn", Text: text}).Code == "482913" && otp.Extract(otp.Mail{Subject: "Tarn", HTML: html}).Code == "482913"
}
