package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/otp"
)

// Shares do not exceed the budget, needs below the share are met in full, and nothing is left while a need is not met.
func TestWorkIsSharedFairly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		needs := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 50).Draw(t, "needs")
		budget := rapid.IntRange(0, 20_000).Draw(t, "budget")
		share := filter.FairShare(needs, budget)
		used, wanting := 0, 0
		for _, need := range needs {
			used += min(need, share)
			if need > share {
				wanting++
			}
		}
		if used > budget || wanting > 0 && budget-used >= wanting {
			t.Fatalf("share %d uses %d of %d, %d want more", share, used, budget, wanting)
		}
	})
}

// Costly filters do not take the share of later ones.
func TestCostlyFiltersDoNotStarveOthers(t *testing.T) {
	run(t, 600, func(t *testing.T, h *fixture) {
		for i := range 40 {
			h.add("", 1, filter.Patterns{Extract: fmt.Sprintf(`(?:x?){330}y%d`, i)})
		}
		cheap := h.add("", 2, filter.Patterns{Extract: `pin (\d+)`})
		mail := filter.Mail{Text: strings.Repeat("x", 500) + " pin 4821 " + strings.Repeat("x", 60<<10)}
		if code, by := h.match("", mail); code != "4821" || by != cheap.ID {
			t.Errorf(`%q by %s, want "4821" and %v`, code, by, cheap.ID)
		}
	})
}

// A mail for many accounts costs as much as one for a single account.
func TestWorkIsDividedAmongAccounts(t *testing.T) {
	run(t, 5, func(t *testing.T, h *fixture) {
		h.add("", 1, filter.Patterns{Extract: `(?:x?){330}pin (\d+)`})
		mail := filter.Mail{Text: strings.Repeat("-", 3000) + " pin 4821"}
		for among, code := range map[int]string{1: "4821", 100: ""} {
			found, err := h.Match(t.Context(), h.ann, "", mail, among)
			if err != nil || (found != nil) != (code != "") {
				t.Errorf("Match among %d filters = %v, %v, want the code %q", among, found, err, code)
			}
		}
	})
}

func TestTooCostlySenderPatternIsSkipped(t *testing.T) {
	run(t, 5, func(t *testing.T, h *fixture) {
		h.add("", 1, filter.Patterns{Subject: `^(?:x?){330}$`, Extract: `\d+`})
		if code, _ := h.match("", filter.Mail{Subject: "xxx", Text: "1"}); code != "1" {
			t.Errorf(`a short subject: %q, want "1"`, code)
		}
		found, err := h.Match(t.Context(), h.ann, "", filter.Mail{Subject: strings.Repeat("x", 900), Text: "1"}, 100)
		if err != nil || found != nil {
			t.Errorf("Match where a part of the subject matches = %v, %v, want nothing found", found, err)
		}
	})
}

// For a short mail a filter gives the same result as its otp.Rule.
func FuzzTry(f *testing.F) {
	f.Add("@shop", "order", `(\d{6})`, "a@shop.example", "Order", "123456")
	f.Add("", "", `(?P<code>[A-Z]+)-(\d+)`, "", "", "AB-12")
	f.Add("(", "", `x`, "", "", "")
	f.Add("a|b", `(?-i)X`, `(?s).*`, "b", "x", "\xff\n")
	f.Fuzz(func(t *testing.T, from, subject, extract, sender, title, text string) {
		m := filter.Mail{From: head(sender), Subject: head(title), Text: head(text)}
		rule, ruleErr := otp.CompileRule(from, subject, extract)
		trial, err := filter.Try(filter.Patterns{From: from, Subject: subject, Extract: extract}, m, "/filter")
		if (err == nil) != (ruleErr == nil) {
			t.Fatalf("CompileRule: %v, and Try of the same patterns: %v; want both to fail or none", ruleErr, err)
		}
		if err != nil {
			return
		}
		code, step := rule.Apply(m.From, m.Subject, m.Text)
		var got string
		if trial.Found != nil {
			got = trial.Found.Display
		}
		if got != code || trial.Step != step {
			t.Errorf("Try = %q at %s, want %q at %s as the rule says", got, trial.Step, code, step)
		}
	})
}

func head(s string) string { return s[:min(len(s), 300)] }
