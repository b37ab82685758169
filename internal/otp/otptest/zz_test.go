package otptest

import (
	"os"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

func TestZZ(t *testing.T) {
	want := os.Getenv("V")
	shown := 0
	for _, v := range Variations() {
		if want != "" && v.Name != want {
			continue
		}
		var all, mail, rep Tally
		for _, d := range []string{"mail", "third", "fourth", "fifth", "sixth", "seventh", "eighth"} {
			cs, _ := Read(os.DirFS("../testdata/" + d))
			for _, c := range v.Of(cs) {
				got := otp.Extract(c.Mail).Code
				if c.Half != Work {
					rep.add(c.Want, got)
					continue
				}
				all.add(c.Want, got)
				if d == "mail" {
					mail.add(c.Want, got)
				}
				if want != "" && (got != c.Want || strings.Contains(d+"/"+c.Name, os.Getenv("N")) && os.Getenv("N") != "") && shown < 400 {
					shown++
					t.Logf("FAULT %s/%s %s want %q got %q: %s", d, c.Name, c.Class, c.Want, got, c.Mail.Subject)
					if os.Getenv("E") != "" {
						for _, x := range otp.Explain(c.Mail).Candidates {
							t.Logf("      %-14s %-9s %6.2f %q", x.Display, x.Where, x.Score, x.Reasons)
						}
					}
				}
			}
		}
		t.Logf("TOTAL %-26s all %.3f %.3f %.1f%%  mail %.3f %.3f %.1f%%  rep %.3f %.3f %.1f%%", v.Name, all.Precision(), all.Recall(), 100*all.FalsePositives(), mail.Precision(), mail.Recall(), 100*mail.FalsePositives(), rep.Precision(), rep.Recall(), 100*rep.FalsePositives())
	}
}
