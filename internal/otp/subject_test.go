package otp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// TestSubjectNounsTakeNoCode holds that a noun that owns other numbers, alone in the
// subject, takes no code from the plainest of texts, "Your code: 482913": a service may
// be called after it. What names another code, or says that a code is used, may.
func TestSubjectNounsTakeNoCode(t *testing.T) {
	says := plainestTexts(t)
	tried, taken := 0, 0
	for lang, phrases := range ownersOfNumbers(t) {
		text := says[lang]
		if text == "" {
			continue
		}
		for _, subject := range phrases {
			tried++
			if got := otp.Extract(otp.Mail{Subject: subject, Text: text}).Code; got != "482913" {
				taken++
				t.Logf("%s: subject %q, text %q: got %q", lang, subject, text, got)
			}
		}
	}
	if taken*1000 > 2*tried || tried < 8000 {
		t.Errorf("%d of %d phrases take the code; want two in a thousand of 8,000 at most", taken, tried)
	}
}

// plainestTexts returns a text with a code in each language of testdata/signin.txt in
// which it is read below a subject that says nothing.
func plainestTexts(t *testing.T) map[string]string {
	t.Helper()
	lines, err := os.ReadFile("testdata/signin.txt")
	if err != nil {
		t.Fatal(err)
	}
	says := map[string]string{}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if len(f) != 6 {
			continue
		}
		if text := f[2] + ": 482913"; labels(text) {
			says[f[0]] = text
		}
	}
	return says
}

// ownersOfNumbers returns the phrases of each language that own the number beside them
// and say nothing else: those of no section that speaks of codes.
func ownersOfNumbers(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("lexicon/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lang := strings.TrimSuffix(filepath.Base(f), ".txt")
		for phrase, in := range sectionsOf(string(text)) {
			if (in["not"] || in["unit"]) && !in["void"] && !in["never"] && !in["done"] && !in["old"] && !in["initial"] {
				all[lang] = append(all[lang], phrase)
			}
		}
	}
	return all
}

// sectionsOf returns the phrases of a lexicon, without stars, with the sections that
// list each.
func sectionsOf(text string) map[string]map[string]bool {
	all, section := map[string]map[string]bool{}, ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		for alternative := range strings.SplitSeq(line, "|") {
			for _, p := range expanded(alternative) {
				if p = strings.TrimSpace(strings.ReplaceAll(p, "*", "")); all[p] == nil {
					all[p] = map[string]bool{}
				}
				all[p][section] = true
			}
		}
	}
	return all
}

// expanded returns the phrases that a pattern with braces stands for.
func expanded(pattern string) []string {
	before, rest, ok := strings.Cut(pattern, "{")
	if !ok {
		return []string{pattern}
	}
	words, rest, _ := strings.Cut(rest, "}")
	var all []string
	for w := range strings.SplitSeq(words, ",") {
		for _, end := range expanded(rest) {
			all = append(all, before+w+end)
		}
	}
	return all
}
