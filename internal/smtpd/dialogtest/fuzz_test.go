package dialogtest_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/smtpd/dialogtest"
)

// FuzzParse checks that a dialog is read or refused, whatever it is.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"C: x\nS: 250 *\nS-closed\n", "C-raw: \"a\"*3 \"b\"\n", "@delivered from=<> to=<a>,<b> \"x\"\n", "@config a=b\n@accept a b\n", "${a}${", "@delivered =\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return // a repetition of a repetition is not what this is about
		}
		d, err := dialogtest.Source{Name: "fuzz", Text: text}.Dialog(map[string]string{"a": "b"})
		if (d == nil) != (err != nil) {
			t.Errorf("Dialog(%q) = %v, %v, want a dialog or an error", text, d, err)
		}
	})
}
