package otp_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// Small letters and digits are a code in the middle of a sentence, too, if that says to enter them in order to sign in.
func TestSmallLettersToSignIn(t *testing.T) {
	for _, c := range []struct{ subject, text, want string }{
		{"Sign in", "Use code x7k2mp to sign in.", "x7k2mp"},
		{"Sign in to Fernhill", "Enter the code x7k2mp to sign in.", "x7k2mp"},
		{"Login code", "Use the code k3m9qa to log in. It expires in 10 minutes.", "k3m9qa"},
		{"Anmelden", "Nutze den Code x7k2mp zum Anmelden.", "x7k2mp"},
		{"Connexion", "Utilisez le code k3m9qa pour vous connecter.", "k3m9qa"},
		{"Вход", "Введите код k3m9qa для входа.", "k3m9qa"},
		{"Sale", "Use code x7k2mp to save 10%.", ""},
		{"Sign in", "Use device ab12cd to sign in.", ""},
		{"Invitation", "Use code x7k2mp to sign in to the wifi of room 12.", ""},
	} {
		if got := otp.Extract(otp.Mail{Subject: c.subject, Text: c.text}).Code; got != c.want {
			t.Errorf("code of %q, %q = %q, want %q", c.subject, c.text, got, c.want)
		}
	}
}
