package otp_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

// TestOrdinaryMails holds what has to be read right whatever else is: mails that
// every service sends, in every language.
func TestOrdinaryMails(t *testing.T) {
	s := otptest.Run(mails(t, "ordinary"))
	threshold(t, "ordinary", s, 0.99, 0.95, 0.01)
	for _, f := range s.Faults {
		t.Logf("%s %s: want %q, got %q", f.Case.Name, f.Case.Class, f.Case.Want, f.Got)
	}
}

// signInLayouts put the sentences of a sign-in mail together: %s is the subject,
// %c what names the code, %v how long it is good, %i what to do if it was not
// asked for, %e where to enter it. The first line is the subject.
var signInLayouts = []struct{ name, mail, want string }{
	{"colon", "%s\n%c: 482913\n%v %i", "482913"},
	{"line of its own", "%s\n%c\n\n204 417\n\n%v\n%i", "204417"},
	{"in the sentence", "%s\n%c 7719. %v", "7719"},
	{"no blank lines", "%s\n%c:\n20441788\n%v\n%e\n%i", "20441788"},
	{"other subject", "Tarn\n%c: 880-213\n%e\n%v", "880213"},
	{"code first", "Tarn\n880-213\n%e %v %i", "880213"},
	{"code after the order", "Tarn\n%e\n\n551207\n\n%v", "551207"},
	{"at the end of the subject", "%c: 482913\n%v %i", "482913"},
	{"at the head of the subject", "482913 – %s\n%i", "482913"},
	{"before a colon", "482913: %s\n%e %v %i", "482913"},
	{"a year", "%s\n%c:\n\n2024\n\n%v", "2024"},
	{"nothing else", "%s\n482913", "482913"},
	{"letters", "%s\n%c: K7P2XD\n%v", "K7P2XD"},
	{"with a footer", "%s - Tarn\nTarn\n%s\n\n551207\n\n%e\n%v\n%i\n\nTarn Ltd, 12 High St, 90210", "551207"},
}

func TestSignInMailsInEveryLanguage(t *testing.T) {
	text, err := os.ReadFile("testdata/signin.txt")
	if err != nil {
		t.Fatal(err)
	}
	faults, mails := 0, 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), " | ")
		if len(f) != 6 {
			t.Fatalf("%q: %d fields, want 6", line, len(f))
		}
		fill := strings.NewReplacer("%s", f[1], "%c", f[2], "%v", f[3], "%i", f[4], "%e", f[5])
		for _, l := range signInLayouts {
			subject, body, _ := strings.Cut(fill.Replace(l.mail), "\n")
			mails++
			if got := otp.Extract(otp.Mail{Subject: subject, Text: body}).Code; got != l.want {
				faults++
				t.Logf("%s, %s: want %q, got %q", f[0], l.name, l.want, got)
			}
		}
	}
	if faults*200 > mails {
		t.Errorf("%d of %d mails were read wrong; want half a percent at most", faults, mails)
	}
}
