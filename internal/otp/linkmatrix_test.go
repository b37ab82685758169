package otp_test

import (
	"os"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

// TestLinkMatrix reads the plainest mails that ask to open a link, generated from
// testdata/links.txt, and the notices of testdata/matrix.txt, which ask for none. Without
// -matrix it reads one in 7.
func TestLinkMatrix(t *testing.T) {
	var texts [2]string
	for i, name := range []string{"testdata/links.txt", "testdata/matrix.txt"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	langs, err := otptest.ParseLinkMails(texts[0])
	if err != nil {
		t.Fatal(err)
	}
	sentences, err := otptest.ParseSentences(texts[1])
	if err != nil {
		t.Fatal(err)
	}
	notices := make(map[string][]string)
	for _, s := range sentences {
		notices[s.Lang] = s.Notices
	}
	step := 7
	if *whole {
		step = 1
	}
	mails, faults, n := 0, 0, 0
	for _, s := range langs {
		bad := 0
		for c := range s.Matrix(notices[s.Lang]) {
			if n++; n%step != 0 {
				continue
			}
			mails++
			var got otp.Action
			r := otp.Extract(c.Mail)
			if r.Action != nil {
				got = *r.Action
			}
			if got.URL != c.URL || got.Kind != c.Kind || r.Action != nil && r.Links[0] != got.URL {
				faults++
				if bad++; bad <= 5 {
					t.Errorf("Extract of %s\nhas the action %+v and the links %q, want %q of the kind %q; the mail is %+v", c.Name, got, r.Links, c.URL, c.Kind, c.Mail)
				}
			}
		}
		if bad > 0 {
			t.Logf("%s: %d faults", s.Lang, bad)
		}
	}
	t.Logf("%d of %d mails are read wrong", faults, mails)
	if len(langs) < 25 || mails < 1000 {
		t.Errorf("ParseLinkMails gives %d languages and %d mails, want 25 and 1,000", len(langs), mails)
	}
}
