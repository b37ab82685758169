package otp_test

import (
	"flag"
	"os"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

var whole = flag.Bool("matrix", false, "read the whole matrix of plain mails, not a sample")

// TestMatrix reads the plainest mails of every language, generated from
// testdata/matrix.txt. Without -matrix it reads one in 97, a number that shares no
// factor with the sizes of the matrix, so that every combination has its turn.
func TestMatrix(t *testing.T) {
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	langs, err := otptest.ParseSentences(string(text))
	if err != nil {
		t.Fatal(err)
	}
	step := 97
	if *whole {
		step = 1
	}
	mails, faults, n := 0, 0, 0
	for _, s := range langs {
		bad := map[string]int{}
		before := faults
		for c := range s.Matrix() {
			if n++; n%step != 0 {
				continue
			}
			mails++
			if got := otp.Extract(c.Mail).Code; got != c.Want {
				faults++
				if bad[c.Class]++; bad[c.Class] <= 3 {
					t.Logf("%s: got %q, want %q", c.Name, got, c.Want)
				}
			}
		}
		if faults > before {
			t.Logf("%s: %v faults", s.Lang, bad)
		}
	}
	t.Logf("%d of %d mails are read wrong", faults, mails)
	if faults > 0 || len(langs) < 54 {
		t.Errorf("%d faults in %d mails of %d languages; want none, and 54 languages", faults, mails, len(langs))
	}
}
