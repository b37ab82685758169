package score_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/otptest"
	"github.com/gonebox/gonebox/internal/otp/score"
)

var worth = flag.Bool("worth", false, "print what each feature is worth on the working half")

func mails(t *testing.T, folder string) []otptest.Case {
	t.Helper()
	cs, err := otptest.Read(os.DirFS("../testdata"), folder)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// TestExamples reads the mail of each feature in testdata/features, where the class is
// the feature: it is read right, and wrong without the feature.
func TestExamples(t *testing.T) {
	shown := map[string]bool{}
	for _, c := range mails(t, "features") {
		shown[c.Class] = true
		if !slices.Contains(score.Features(), c.Class) {
			t.Errorf("%s is a mail of the feature %q, want one that exists", c.Name, c.Class)
			continue
		}
		if got := otp.Extract(c.Mail).Code; got != c.Want {
			t.Errorf("%s %s: Extract = %q, want %q", c.Name, c.Class, got, c.Want)
		}
		undo := score.Reweigh(c.Class, none(c.Class))
		if otp.Extract(c.Mail).Code == c.Want {
			t.Errorf("%s: without %s Extract also finds %q, want it to need the feature", c.Name, c.Class, c.Want)
		}
		undo()
	}
	for _, f := range score.Features() {
		if !shown[f] {
			t.Errorf("no mail in testdata/features needs %s, want at least one", f)
		}
	}
}

// reader reads the mails of the working half: as they are, and as if their wording
// were new (TestUnseenWordings).
type reader struct {
	cases   []otptest.Case
	phrases [][]int32 // that no other mail has
}

// right gives, for each mail, whether it is read right, as it is and as if it were new.
func (r reader) right() []bool {
	all := make([]bool, 0, 2*len(r.cases))
	for i, c := range r.cases {
		all = append(all, otp.Extract(c.Mail).Code == c.Want)
		remember := lexicon.Forget(r.phrases[i])
		all = append(all, otp.Extract(c.Mail).Code == c.Want)
		remember()
	}
	return all
}

// TestWorth prints how many mails of the working half are read worse and better without
// each feature. A share of 1 is none.
func TestWorth(t *testing.T) {
	if !*worth {
		t.Skip("make otp-features")
	}
	sets := []string{"corpus", "ordinary", "words"}
	readers, is := make([]reader, len(sets)), make([][]bool, len(sets))
	for i, set := range sets {
		cs := mails(t, set)
		readers[i] = reader{cs, otptest.OwnPhrases(cs)}
		is[i] = readers[i].right()
	}
	for _, f := range score.Features() {
		undo := score.Reweigh(f, none(f))
		var worse, better [6]int // as they are, and as if they were new, by set
		for i, r := range readers {
			for k, right := range r.right() {
				switch at := 2*i + k%2; {
				case is[i][k] && !right:
					worse[at]++
				case !is[i][k] && right:
					better[at]++
				}
			}
		}
		undo()
		t.Logf("%-22s %+5.2f  corpus -%d +%d, as new -%d +%d; ordinary -%d +%d, as new -%d +%d; words -%d +%d",
			f, score.Weight(f), worse[0], better[0], worse[1], better[1], worse[2], better[2], worse[3], better[3], worse[4], better[4])
	}
}

// none is the weight with which a feature changes nothing.
func none(f string) float64 {
	switch f {
	case "firmShare", "firmVoidShare", "tiedCost":
		return 1
	}
	return 0
}
