package otp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

func TestRule(t *testing.T) {
	for _, c := range []struct {
		name                  string
		fromRE, subjectRE, re string
		from, subject, text   string
		code                  string
		step                  otp.Step
	}{
		{"named group", `@acme\.`, "", `(x)?code (?P<code>\d+)`, "no-reply@ACME.example", "", "code 1234", "1234", otp.StepMatched},
		{"first group", "", "", `code (\d+) (\d+)`, "", "code 12 34", "", "12", otp.StepMatched},
		{"whole match", "", "", `\d{4}`, "", "", "x1234y", "1234", otp.StepMatched},
		{"subject before text", "", "", `\d{4}`, "", "1111", "2222", "1111", otp.StepMatched},
		{"over the newline", "", "", `A\nB`, "", "A", "B", "A\nB", otp.StepMatched},
		{"wrong sender", `@acme\.`, "", `\d+`, "a@b.example", "", "1234", "", otp.StepFrom},
		{"wrong subject", "", "login", `\d+`, "", "Receipt", "1234", "", otp.StepSubject},
		{"subject ignores case", "", "LOGIN", `\d+`, "", "your login", "1234", "1234", otp.StepMatched},
		{"extract minds case", "", "", `CODE (\d+)`, "", "", "code 1234", "", otp.StepExtract},
		{"empty group", "", "", `code(\d*)`, "", "", "code", "", otp.StepExtract},
		{"group that took no part", "", "", `a|(b)`, "", "", "a", "", otp.StepExtract},
		{"64 characters", "", "", `é+`, "", "", strings.Repeat("é", 64), strings.Repeat("é", 64), otp.StepMatched},
		{"65 characters", "", "", `é+`, "", "", strings.Repeat("é", 65), "", otp.StepExtract},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := otp.CompileRule(c.fromRE, c.subjectRE, c.re)
			if err != nil {
				t.Fatal(err)
			}
			if code, step := r.Apply(c.from, c.subject, c.text); code != c.code || step != c.step {
				t.Errorf("Apply = %q at the step %s, want %q at %s", code, step, c.code, c.step)
			}
		})
	}
}

func TestRuleErrors(t *testing.T) {
	for _, c := range []struct {
		name, from, subject, re string
		field                   string
		position                int
	}{
		{"open parenthesis", "", "", `code (\d+`, "extractRegex", 5},
		{"closing parenthesis", "", "", `code \d+)`, "extractRegex", 8},
		{"escaped parenthesis", "", "", `\((a`, "extractRegex", 2},
		{"parenthesis in a class", "", "", `[(](a`, "extractRegex", 3},
		{"class", "", "é[a", `x`, "subjectPattern", 1},
		{"repeat of nothing", "*", "", `x`, "fromPattern", 0},
		{"look-ahead", "", "", `a(?=b)`, "extractRegex", 1},
		{"escape", "", "", `ab\8`, "extractRegex", 2},
		{"empty", "", "", "", "extractRegex", 0},
		{"too long", "", "", strings.Repeat("a", 513), "extractRegex", 512},
		{"repeats too much", "", "", `(?:[a-z]+[0-9]+){500}`, "extractRegex", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := otp.CompileRule(c.from, c.subject, c.re)
			e, ok := errors.AsType[*otp.PatternError](err)
			if !ok {
				t.Fatalf("got %v, want a *PatternError", err)
			}
			if e.Field != c.field || e.Position != c.position {
				t.Errorf("got %s at %d (%v), want %s at %d", e.Field, e.Position, e, c.field, c.position)
			}
		})
	}
}

// A rule matches a bounded piece of text: what lies beyond is not seen.
func TestRuleBound(t *testing.T) {
	r, err := otp.CompileRule("", "", `needle`)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]otp.Step{60 << 10: otp.StepMatched, 70 << 10: otp.StepExtract} {
		if _, step := r.Apply("", "", strings.Repeat("é", n/2)+"needle"); step != want {
			t.Errorf("needle after %d bytes: got %s, want %s", n, step, want)
		}
	}
}
