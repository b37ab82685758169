package otp_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

// names are what numbers are called in one language: those that are one-time
// codes, and all others.
type names struct {
	warning       string // of a code: how long it is valid, that it must not be shared
	codes, others []string
}

// TestNames labels a number with each name in testdata/names.txt. A code's is to
// be read where the mail warns as those with a code do; no other's is, even
// then. Some names are both: an "authorisation code" is on receipts too.
func TestNames(t *testing.T) {
	var codes, missed, others, taken int
	for lang, blocks := range readNames(t) {
		for _, b := range blocks {
			for _, n := range b.codes {
				if codes++; !labels(n + ": 482913\n\n" + b.warning) {
					missed++
					t.Logf("%s: missed %q", lang, n)
				}
			}
			for _, n := range b.others {
				if others++; labels(n+": 482913") || labels(n+" 482913") || labels(n+": 482913\n\n"+b.warning) {
					taken++
					t.Logf("%s: taken %q", lang, n)
				}
			}
		}
	}
	if codes < 3000 || missed*100 > codes*2 || others < 6000 || taken*100 > others {
		t.Errorf("%d of %d codes missed, %d of %d others taken; want 2 and 1 in a hundred at most", missed, codes, taken, others)
	}
}

func labels(text string) bool {
	return otp.Extract(otp.Mail{Subject: "Fernhill", Text: text}).Code != ""
}

// readNames reads testdata/names.txt: of each language a line "~" with a warning, and
// below it names of codes after "+" and others after "-", parted by bars.
func readNames(t *testing.T) map[string][]names {
	t.Helper()
	parts, err := otptest.ByLanguage(os.DirFS("testdata"), "names")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]names{}
	for _, p := range parts {
		all[p.Lang] = parseNames(t, p)
	}
	return all
}

func parseNames(t *testing.T, p otptest.Part) (blocks []names) {
	t.Helper()
	for line := range strings.Lines(p.Text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		sign, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		last := len(blocks) - 1
		switch {
		case sign == "~":
			blocks = append(blocks, names{warning: rest})
		case sign == "+" && last >= 0:
			blocks[last].codes = append(blocks[last].codes, strings.Split(rest, " | ")...)
		case sign == "-" && last >= 0:
			blocks[last].others = append(blocks[last].others, strings.Split(rest, " | ")...)
		default:
			t.Fatalf("%s: %s: the line is %q, want one that begins with ~, + or -", p.File, p.Lang, line)
		}
	}
	return blocks
}

// TestWords reads the mails of testdata/words.txt, each of which hangs on a phrase
// or two of its language. They hold the lexicons in place and say nothing about
// unseen mails, so no figure counts them.
func TestWords(t *testing.T) {
	cs := mails(t, "words")
	for _, f := range otptest.Run(cs).Faults {
		t.Errorf("%s %s: Extract = %q, want %q: %s", f.Case.Name, f.Case.Class, f.Got, f.Case.Want, f.Case.Mail.Subject)
	}
	if len(cs) < 300 {
		t.Errorf("%d mails; want 300", len(cs))
	}
}
