package diagnosis_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
)

// Full mailboxes and quotas have the same numbers in their replies; the texts differ.
func TestRefusalCodes(t *testing.T) {
	for reason, want := range map[string]resource.CauseCode{
		problem.MailMailboxFull.Title():                                           resource.CauseMailboxFull,
		problem.MailDailyCap.Title():                                              resource.CauseQuota,
		problem.MailboxLimitReached.Title():                                       resource.CauseQuota,
		"Mail from this sender is blocked here":                                   resource.CauseBlocked,
		"Mail to this recipient is blocked here":                                  resource.CauseBlocked,
		"Mail from your address is refused, it is listed by bl.example":           resource.CauseBlocked,
		problem.MailMailboxUnknown.Title():                                        resource.CauseRefused,
		problem.MailTooLarge.Title():                                              resource.CauseRefused,
		"The mailbox is full of words":                                            resource.CauseRefused,
		"blocked, says a rule of the owner: Mail from this sender is blocked her": resource.CauseRefused,
	} {
		if got := diagnosis.RefusalCode(reason); got != want {
			t.Errorf("refusalCode(%q) = %s, want %s", reason, got, want)
		}
	}
}

// The candidates are named with what spoke against them, without the weights of the extractor.
func TestCandidatesSayWhatSpokeAgainstThem(t *testing.T) {
	for text, want := range map[string]string{
		"Your order number is 48213. It ships soon.":     `"48213", since it belongs to “order number”`,
		"Call 555 0199 for help. Order 77120 is on hold": `The likeliest texts were not taken for a code: `,
		"Nothing here.":                           " Nothing in it looks like a code.",
		"Your verification code is 482913.":       "", // it has one: something else spoke against it
		"Thanks for joining us in 2026, " + "Ada": `"2026", since `,
	} {
		got := diagnosis.Candidates("Hello", text)
		if !strings.Contains(got, want) || want == "" && got != "" || regexp.MustCompile(`[-+][0-9]+\.[0-9]`).MatchString(got) {
			t.Errorf("candidates of %q: %q, want %q in it and no weights", text, got, want)
		}
	}
}

// What is quoted is short, and on one line that a terminal shows as it is.
func FuzzQuoted(f *testing.F) {
	for _, seed := range []string{"", "Welcome", "two\nlines", "\x1b[31mred", "right\u202eleft", strings.Repeat("ü", 200), "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := diagnosis.Quoted(text)
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) || len(got) > 12*82 {
			t.Errorf("quoted(%q) = %q, want printable characters only, and few", text, got)
		}
	})
}
