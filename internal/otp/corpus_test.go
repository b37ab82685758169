package otp_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

// mails reads a folder of labelled mails below testdata.
func mails(t testing.TB, folder string) []otptest.Case {
	t.Helper()
	cs, err := otptest.Read(os.DirFS("testdata"), folder)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func corpus(t testing.TB) []otptest.Case {
	t.Helper()
	return mails(t, "corpus")
}

// TestThresholds holds what the extractor reaches on the labelled mails. The
// faults of the held-out mails are counted and never shown.
func TestThresholds(t *testing.T) {
	threshold(t, "corpus", otptest.Run(corpus(t)), 0.976, 0.95, 0.0095)
	threshold(t, "heldout", otptest.Run(mails(t, "heldout")), 0.985, 0.955, 0.011)
}

func threshold(t *testing.T, name string, s otptest.Score, precision, recall, falsePositives float64) {
	t.Helper()
	for form, n := range map[string]otptest.Tally{"as it is": s.All, "as text and HTML": s.Twice} {
		p, r, f := n.Precision(), n.Recall(), n.FalsePositives()
		t.Logf("%s, %s: precision %.4f, recall %.4f, false positives %.4f", name, form, p, r, f)
		if p < precision || r < recall || f > falsePositives {
			t.Errorf("%s, %s: precision %.4f, recall %.4f, false positives %.4f; want %g, %g, %g", name, form, p, r, f, precision, recall, falsePositives)
		}
	}
}

// skipRereading skips a test that reads the corpus again, changed, with -short: what TestThresholds requires of it holds there, too.
func skipRereading(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short reads the corpus as it is")
	}
}

// third is every third mail, for tests that read each mail many times.
func third(cs []otptest.Case) (some []otptest.Case) {
	for i, c := range cs {
		if i%3 == 0 {
			some = append(some, c)
		}
	}
	return some
}

// TestTwiceIsOnce holds that a mail that says everything in text and in HTML is read
// as one that says it once.
func TestTwiceIsOnce(t *testing.T) {
	cs := slices.DeleteFunc(corpus(t), func(c otptest.Case) bool { return c.Mail.HTML != "" })
	other := 0
	for i, twice := range otptest.Twice(cs) {
		if once := otp.Extract(cs[i].Mail).Code; otp.Extract(twice.Mail).Code != once {
			other++
			t.Logf("%s: %q, and as text and HTML %q", twice.Name, once, otp.Extract(twice.Mail).Code)
		}
	}
	if most := len(cs) / 500; other > most {
		t.Errorf("%d of %d mails are read in another way with their text twice, want at most %d", other, len(cs), most)
	}
}

// TestVariations holds that what senders put around a mail's words changes little:
// hardly a number is taken for a code because of it, and few codes are missed.
func TestVariations(t *testing.T) {
	skipRereading(t)
	cs := third(corpus(t))
	bare := otptest.Count(otptest.Variations()[0].Of(cs))
	for _, v := range otptest.Variations() {
		n := otptest.Count(v.Of(cs))
		if n.Precision() < bare.Precision()-0.01 || n.Recall() < bare.Recall()-0.085 || n.FalsePositives() > bare.FalsePositives()+0.005 {
			t.Errorf("with %s: precision %.3f, recall %.3f, false positives %.3f; want nearly those with nothing: %.3f, %.3f, %.3f", v.Name, n.Precision(), n.Recall(), n.FalsePositives(), bare.Precision(), bare.Recall(), bare.FalsePositives())
		}
	}
}

// TestAround holds the same of what others wrote around mails, who had seen neither
// the labelled mails nor the extractor.
func TestAround(t *testing.T) {
	skipRereading(t)
	text, err := os.ReadFile("testdata/around.txt")
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := otptest.ParseAround(string(text))
	if err != nil || len(pieces) < 100 {
		t.Fatalf("%d pieces, %v, want at least 100", len(pieces), err)
	}
	n := otptest.Around(pieces, third(corpus(t)))
	if n.Precision() < 0.965 || n.Recall() < 0.89 || n.FalsePositives() > 0.014 {
		t.Errorf("precision %.3f, recall %.3f, false positives %.3f; want 0.965, 0.89, 0.014", n.Precision(), n.Recall(), n.FalsePositives())
	}
}

// TestCorpusIsComplete holds that no labelled mail is lost: there are at least as
// many, with and without a code, as were written when the files were last regrouped.
func TestCorpusIsComplete(t *testing.T) {
	for folder, want := range map[string]struct{ mails, codes, langs int }{
		"corpus":   {10245, 3760, 93},
		"heldout":  {5652, 2922, 93},
		"fresh":    {514, 319, 63},
		"ordinary": {756, 216, 54},
		"words":    {715, 300, 100},
	} {
		langs, codes := map[string]bool{}, 0
		cs := mails(t, folder)
		for _, c := range cs {
			langs[c.Lang] = true
			if c.Want != "" {
				codes++
			}
		}
		if len(cs) < want.mails || codes < want.codes || len(langs) < want.langs {
			t.Errorf("%s: %d mails, %d with a code, %d languages; want at least %+v", folder, len(cs), codes, len(langs), want)
		}
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
				t.Errorf("%s: got %q for %q, want Code %v", name, got.Code, code, string(want))
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
			t.Errorf("%s: Extract says %+v, Explain %+v, want Code %v, Confidence %v and Links %v", c.Name, a, b, b.Code, b.Confidence, b.Links)
		}
	}
}
