package otp_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

var faults = flag.Bool("faults", false, "show the mails of the working halves that TestUnseenWordings read wrong, and why")

// TestUnseenWordings reads every mail of the working halves without the phrases
// that no other of these mails has, as if nobody had looked at it while the
// lexicons were filled. What is found then is about what is found in mails that
// are new, and what goes wrong is what a rule is to be made for, not a phrase.
func TestUnseenWordings(t *testing.T) {
	sets, met, mails := workingHalves(t), map[string][]int32{}, map[int32]int{}
	for _, cs := range sets {
		for _, c := range cs {
			met[c.Name] = otp.PhrasesOf(c.Mail)
			for _, phrase := range met[c.Name] {
				mails[phrase]++
			}
		}
	}
	var all otptest.Tally
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		s := otptest.RunWith(sets[set], otptest.Work, func(c otptest.Case) string {
			return unlearned(c, slices.DeleteFunc(met[c.Name], func(phrase int32) bool { return mails[phrase] > 1 }))
		}).All
		t.Logf("%-7s precision %.3f, recall %.3f, false positives %.3f %+v", set, s.Precision(), s.Recall(), s.FalsePositives(), s)
		all = all.Plus(s)
	}
	t.Logf("%-7s precision %.3f, recall %.3f, false positives %.3f %+v", "all", all.Precision(), all.Recall(), all.FalsePositives(), all)
	if all.Precision() < 0.965 || all.Recall() < 0.92 {
		t.Errorf("precision %.3f, recall %.3f; want 0.965 and 0.92", all.Precision(), all.Recall())
	}
}

// unlearned reads a mail without some phrases.
func unlearned(c otptest.Case, phrases []int32) string {
	defer otp.Unlearn(phrases)()
	got := otp.Extract(c.Mail).Code
	if *faults && got != c.Want {
		show(c, got)
	}
	return got
}

// workingHalves reads the working halves of all corpora, by their names.
func workingHalves(t *testing.T) map[string][]otptest.Case {
	t.Helper()
	halves := map[string][]otptest.Case{}
	for _, set := range []string{"mail", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"} {
		cs, err := otptest.Read(os.DirFS("testdata/" + set))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cs {
			if c.Name = set + "/" + c.Name; c.Half == otptest.Work {
				halves[set] = append(halves[set], c)
			}
		}
	}
	return halves
}

func show(c otptest.Case, got string) {
	fmt.Printf("%s %s: want %q, got %q\n%s\n%s%s\n", c.Name, c.Class, c.Want, got, c.Mail.Subject, c.Mail.Text, c.Mail.HTML)
	for _, k := range otp.Explain(c.Mail).Candidates {
		fmt.Printf("    %-14s %-9s %6.2f %q\n", k.Display, k.Where, k.Score, k.Reasons)
	}
}
