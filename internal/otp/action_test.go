package otp_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// TestAction holds which link is the action of mails as services write them.
func TestAction(t *testing.T) {
	const want, other, site = "https://acme.example/x/8f2c", "https://acme.example/y/77ab", "https://acme.example"
	a := func(href, label string) string { return `<a href="` + href + `">` + label + `</a>` }
	for _, c := range []struct {
		name string
		mail otp.Mail
		kind otp.ActionKind // "": no action
	}{
		{"a changed password, with the way back", otp.Mail{Subject: "Your password was changed", HTML: `<p>The password of your account was changed.</p><p>If you didn't do this, ` + a(want, "reset your password") + ` immediately.</p>`}, ""},
		{"a changed password, with a button for others", otp.Mail{Subject: "Password changed", HTML: `<p>Your password has been changed successfully.</p><p>Not you?</p><p>` + a(want, "Secure account") + `</p>`}, ""},
		{"a sign-in, with the way to object", otp.Mail{Subject: "New sign-in", HTML: `<p>There was a new sign-in.</p><p>Wasn't you? ` + a(want, "Change your password") + `</p>`}, ""},
		{"an order, with a menu in its footer", otp.Mail{Subject: "Your order has shipped", HTML: `<p>Your order 5512 is on its way.</p><p>` + a(other, "Track order") + `</p><hr><p>` + a(site+"/login", "Log in") + ` | ` + a(site+"/help", "Help") + ` | ` + a(site+"/u", "Unsubscribe") + `</p>`}, ""},
		{"a receipt, with an address in its footer", otp.Mail{Subject: "Receipt from Acme", Text: "Thank you for your payment.\n\nTotal: 12.00\n\n-- \nAcme Ltd\nhttps://acme.example/account\n"}, ""},
		{"a notice, with an address in its footer", otp.Mail{Subject: "Your e-mail address was changed", Text: "Your e-mail address is now b@x.example.\n\nThe Acme team\nhttps://acme.example/\n"}, ""},
		{"a discount", otp.Mail{Subject: "Activate your 20% discount", HTML: `<p>Only this week.</p><p>` + a(want, "Activate discount") + `</p>`}, ""},
		{"a webinar", otp.Mail{Subject: "Join our webinar on Thursday", HTML: `<p>We talk about trees.</p><p>` + a(want, "Save my seat") + `</p><p>` + a(other, "Unsubscribe") + `</p>`}, ""},
		{"an order that is confirmed", otp.Mail{Subject: "Order confirmation", HTML: `<p>We confirm your order.</p><p>` + a(want, "View your order") + `</p>`}, ""},
		{"a newsletter", otp.Mail{Subject: "News of the week", HTML: `<p>` + a(other, "View in browser") + `</p><h1>Trees</h1><p>` + a(want, "Read more") + `</p><p>` + a(site+"/prefs", "Manage preferences") + `</p>`}, ""},
		{"a code, with the site in its footer", otp.Mail{Subject: "Your code is 482913", HTML: `<p>Enter this code to sign in: <b>482913</b></p><p>` + a(site, "acme.example") + `</p>`}, ""},
		{"a button that is a picture", otp.Mail{Subject: "Welcome", HTML: `<p>Hello.</p>` + a(want, `<img src="https://i.example/b.png" alt="Confirm your e-mail address">`) + `<p>` + a(other, `<img src="https://i.example/f.png" alt="Follow us">`) + `</p>`}, otp.Verify},
		{"a word in a sentence", otp.Mail{Subject: "Almost done", HTML: `<p>Click ` + a(want, "here") + ` to confirm your e-mail address.</p>`}, otp.Verify},
		{"a sentence before a word", otp.Mail{Subject: "Acme", HTML: `<p>To reset your password, click ` + a(want, "here") + `.</p><p>To report this, click ` + a(other, "here") + `.</p>`}, otp.Reset},
		{"a link without a password", otp.Mail{Subject: "Sign in to Acme", Text: "Use this link to sign in without a password:\n\n" + want + "\n"}, otp.SignIn},
		{"an address in angle brackets", otp.Mail{Subject: "Set up your account", Text: "Hi Bo,\n\nyou can activate your account here: <" + want + ">\n\nThanks,\nAcme\n" + site + "\n"}, otp.Verify},
		{"a text beside its HTML", otp.Mail{Subject: "Join Design", Text: "Bo has invited you to Design.\n\nAccept: " + want + "\n\nDecline: " + other + "\n", HTML: `<p>Bo has invited you to Design.</p><p>` + a(want, "Accept") + ` ` + a(other, "Decline") + `</p>`}, otp.Invite},
		{"a table for a button", otp.Mail{Subject: "Your sign-in link", HTML: `<table><tr><td>` + a(site, "Acme") + `</td></tr><tr><td>` + a(want, `<table><tr><td><span>Sign&nbsp;in</span></td></tr></table>`) + `</td></tr></table>`}, otp.SignIn},
		{"a set password of a new account", otp.Mail{Subject: "Your new account", HTML: `<p>Bo has created an account for you.</p><p>` + a(want, "Set your password") + `</p>`}, otp.Reset},
		{"the same by http first", otp.Mail{Subject: "Confirm your address", HTML: `<p>Confirm your address: ` + a("http://acme.example/x", "Confirm") + ` ` + a(want, "Confirm") + `</p>`}, otp.Verify},
		{"a logo whose address signs in", otp.Mail{Subject: "Your week", HTML: a(site+"/login", `<img alt="Acme" src="https://i.example/l.png">`) + `<p>Three trees grew.</p>`}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.mail.From = "no-reply@acme.example"
			r := otp.Extract(c.mail)
			switch {
			case r.Action == nil && c.kind == "":
			case r.Action == nil || c.kind == "" || r.Action.URL != want || r.Action.Kind != c.kind || r.Links[0] != want:
				t.Errorf("Extract(%+v) has the action %+v and the links %q, want the kind %q", c.mail, r.Action, r.Links, c.kind)
			}
		})
	}
}

// The words of one address say nothing of the address behind it.
func TestAddressIsNoWord(t *testing.T) {
	const want = "http://shop.example/verify"
	r := otp.Extract(otp.Mail{Subject: "Sale", Text: "See " + want + " and https://shop.example/sale\n"})
	if r.Action == nil || r.Action.URL != want {
		t.Errorf("Extract(two addresses in a line) has the action %+v, want %s", r.Action, want)
	}
}
