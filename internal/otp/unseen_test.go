package otp_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

var faults = flag.Bool("faults", false, "show the mails of the corpus that TestUnseenWordings reads wrong, and why")

// TestUnseenWordings reads every mail of the corpus without the phrases that no
// other of its mails has, as if it had not been there while the lexicons were
// filled. The result estimates how unseen mails are read; what goes wrong calls
// for a rule, not for a phrase.
func TestUnseenWordings(t *testing.T) {
	skipRereading(t)
	cs, own := corpus(t), map[string][]int32{}
	for i, phrases := range otptest.OwnPhrases(cs) {
		own[cs[i].Name] = phrases
	}
	all := otptest.RunWith(cs, func(c otptest.Case) string { return unlearned(c, own[c.Name]) }).All
	t.Logf("precision %.3f, recall %.3f, false positives %.3f %+v", all.Precision(), all.Recall(), all.FalsePositives(), all)
	if all.Precision() < 0.945 || all.Recall() < 0.92 {
		t.Errorf("precision %.3f, recall %.3f; want 0.945 and 0.92", all.Precision(), all.Recall())
	}
}

// unlearned reads a mail without some phrases.
func unlearned(c otptest.Case, phrases []int32) string {
	defer lexicon.Forget(phrases)()
	got := otp.Extract(c.Mail).Code
	if *faults && got != c.Want {
		show(c, got)
	}
	return got
}

func show(c otptest.Case, got string) {
	fmt.Printf("%s %s: want %q, got %q\n%s\n%s%s\n", c.Name, c.Class, c.Want, got, c.Mail.Subject, c.Mail.Text, c.Mail.HTML)
	for _, k := range otp.Explain(c.Mail).Candidates {
		fmt.Printf("    %-14s %-9s %6.2f %q\n", k.Display, k.Where, k.Score, k.Reasons)
	}
}
