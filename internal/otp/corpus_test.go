package otp_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

func corpus(t testing.TB) []otptest.Case {
	t.Helper()
	cs, err := otptest.Read(os.DirFS("testdata/mail"))
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// TestThresholds holds what the extractor is to reach on either half of the
// labelled mails. The faults of the report half are counted, not shown.
func TestThresholds(t *testing.T) {
	cs := corpus(t)
	for _, half := range []otptest.Half{otptest.Work, otptest.Report} {
		threshold(t, string(half), otptest.Run(cs, half))
	}
}

// TestSecond holds the same on the mails that were written apart.
func TestSecond(t *testing.T) {
	cs, err := otptest.Read(os.DirFS("testdata/second"))
	if err != nil {
		t.Fatal(err)
	}
	threshold(t, "second", otptest.Run(cs, ""))
}

func threshold(t *testing.T, name string, s otptest.Score) {
	t.Helper()
	for form, n := range map[string]otptest.Tally{"as it is": s.All, "as text and HTML": s.Twice} {
		p, r, f := n.Precision(), n.Recall(), n.FalsePositives()
		if p < 0.99 || r < 0.95 || f > 0.01 {
			t.Errorf("%s, %s: precision %.3f, recall %.3f, false positives %.3f; want 0.99, 0.95, 0.01", name, form, p, r, f)
		}
	}
}

// TestTwiceIsOnce holds that a mail that says everything in text and in HTML is read
// as one that says it once.
func TestTwiceIsOnce(t *testing.T) {
	cs := slices.DeleteFunc(corpus(t), func(c otptest.Case) bool { return c.Half != otptest.Work || c.Mail.HTML != "" })
	other := 0
	for i, twice := range otptest.Twice(cs) {
		if once := otp.Extract(cs[i].Mail).Code; otp.Extract(twice.Mail).Code != once {
			other++
			t.Logf("%s: %q, and as text and HTML %q", twice.Name, once, otp.Extract(twice.Mail).Code)
		}
	}
	if most := len(cs) / 500; other > most {
		t.Errorf("%d of %d mails are read in another way, more than %d", other, len(cs), most)
	}
}

// TestVariations holds that what senders put around a mail's words changes little:
// hardly a number is taken for a code because of it, and few codes are missed.
func TestVariations(t *testing.T) {
	cs := slices.DeleteFunc(corpus(t), func(c otptest.Case) bool { return c.Half != otptest.Work })
	bare := otptest.Count(otptest.Variations()[0].Of(cs), "")
	for _, v := range otptest.Variations() {
		n := otptest.Count(v.Of(cs), "")
		if n.Precision() < bare.Precision()-0.006 || n.Recall() < bare.Recall()-0.085 || n.FalsePositives() > 0.005 {
			t.Errorf("with %s: precision %.3f, recall %.3f, false positives %.3f; with nothing: %.3f, %.3f, %.3f",
				v.Name, n.Precision(), n.Recall(), n.FalsePositives(), bare.Precision(), bare.Recall(), bare.FalsePositives())
		}
	}
}

// TestAround holds the same of what others wrote around mails, who had seen neither
// the labelled mails nor the extractor.
func TestAround(t *testing.T) {
	pieces, err := otptest.ReadAround(os.DirFS("testdata/around"))
	if err != nil || len(pieces) < 100 {
		t.Fatalf("%d pieces, %v", len(pieces), err)
	}
	n := otptest.Around(pieces, corpus(t), otptest.Work)
	if n.Precision() < 0.99 || n.Recall() < 0.89 || n.FalsePositives() > 0.006 {
		t.Errorf("precision %.3f, recall %.3f, false positives %.3f; want 0.99, 0.89, 0.006", n.Precision(), n.Recall(), n.FalsePositives())
	}
}

// TestCorpus holds the size and spread of the labelled mails.
func TestCorpus(t *testing.T) {
	cs := corpus(t)
	langs, none := map[string]bool{}, 0
	for _, c := range cs {
		langs[c.Lang] = true
		if c.Want == "" {
			none++
		}
	}
	if len(cs) < 1000 || len(langs) < 40 || none < 400 {
		t.Errorf("%d mails, %d languages, %d without a code; want 1000, 40, 400", len(cs), len(langs), none)
	}
}

// TestDisguises writes the codes of the corpus in ways that look the same to
// a reader, and wants the same answer.
func TestDisguises(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"zero-width":  between("\u200B"),
		"soft hyphen": between("\u00AD"),
		"joiner":      between("\u2060"),
		"full-width":  digits('０'),
		"arabic":      digits('٠'),
		"devanagari":  digits('०'),
		"bold":        digits('𝟎'),
		"bidi":        func(s string) string { return "\u202A\u2066" + s + "\u2069\u202C" },
	} {
		for _, code := range []string{"482913", "5071", "204 771"} {
			got := otp.Extract(otp.Mail{Text: "Your verification code is:\n\n" + change(code) + "\n\nIt expires soon.", Subject: "Sign in"})
			if want := slices.DeleteFunc([]rune(code), func(r rune) bool { return r == ' ' }); got.Code != string(want) {
				t.Errorf("%s: got %q for %q", name, got.Code, code)
			}
		}
	}
}

// between puts a string between the characters of another.
func between(sep string) func(string) string {
	return func(s string) string {
		var out strings.Builder
		for _, r := range s {
			out.WriteString(string(r) + sep)
		}
		return out.String()
	}
}

// digits writes digits in another script.
func digits(zero rune) func(string) string {
	return func(s string) string {
		out := []rune(s)
		for i, r := range out {
			if r >= '0' && r <= '9' {
				out[i] = zero + r - '0'
			}
		}
		return string(out)
	}
}

func TestSameAnswerTwice(t *testing.T) {
	for _, c := range corpus(t) {
		a, b := otp.Extract(c.Mail), otp.Explain(c.Mail).Result
		if a.Code != b.Code || a.Confidence != b.Confidence || !slices.Equal(a.Links, b.Links) {
			t.Errorf("%s: Extract says %+v, Explain %+v", c.Name, a, b)
		}
	}
}
