package otp_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

func TestExtract(t *testing.T) {
	for _, c := range []struct {
		name string
		mail otp.Mail
		want string
	}{
		{"after is", otp.Mail{Text: "Your Acme verification code is 482913."}, "482913"},
		{"before", otp.Mail{Subject: "739201 is your Acme code"}, "739201"},
		{"heading", otp.Mail{Text: "Here is your code:\n\n4821\n\nIt expires in 10 minutes."}, "4821"},
		{"grouped", otp.Mail{Text: "Login code: 482 913"}, "482913"},
		{"prefixed", otp.Mail{Text: "G-482913 is your Google verification code."}, "G-482913"},
		{"letters", otp.Mail{Text: "Your sign-in code:\n\nABC-DEF"}, "ABC-DEF"},
		{"domain", otp.Mail{Text: "Your code is 747723.\n\n@example.com #747723"}, "747723"},
		{"cells", otp.Mail{HTML: "<p>Your verification code</p><table><tr><td>4</td><td>8</td><td>2</td><td>9</td><td>1</td><td>3</td></tr></table><p>Valid for 10 minutes</p>"}, "482913"},
		{"arabic digits", otp.Mail{Text: "OTP: ٤٨٢٩١٣"}, "482913"},
		{"order", otp.Mail{Subject: "Your order", Text: "Order number: 482913\nTotal $4821.00"}, ""},
		{"promo", otp.Mail{Text: "Use promo code SAVE20 or 482913 at checkout"}, ""},
		{"new before old", otp.Mail{Text: "Your previous code 111222 has expired. Your new verification code is 333444."}, "333444"},
		{"full-width comma", otp.Mail{Text: "您的验证码是 839201，5分钟内有效。"}, "839201"},
		{"full-width thousands", otp.Mail{Text: "您的验证码 金额 1，839，2011。"}, ""},
		{"words lost in a wrong charset", otp.Mail{Subject: "Kod", Text: "÷ÁÛ ËÏÄ: 550917"}, "550917"},
		{"subject says more", otp.Mail{Subject: "Kod pocztowy", Text: "÷ÁÛ ËÏÄ: 550917"}, ""},
		{"a subject of another language", otp.Mail{Subject: "Meta", Text: "Ваш код: 553102"}, "553102"},
		{"words of an address", otp.Mail{Subject: "to dave@shop.example.net", Text: "Your code is 482913"}, "482913"},
		{"a share that is no offer", otp.Mail{Subject: "Your sign-in code", Text: "Your code is 518823 \u2713 100% safe"}, "518823"},
		{"nothing", otp.Mail{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := otp.Explain(c.mail)
			if e.Result.Code != c.want {
				t.Errorf("Explain finds %q, want %q", e.Result.Code, c.want)
				for _, k := range e.Candidates {
					t.Logf("%+v", k)
				}
			}
		})
	}
}
