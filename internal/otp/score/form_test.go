package score

import "testing"

// TestForms reads how codes and what looks like them are written.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		text string
		form form
		like likeness
	}{
		{"482913", sixDigits, typical},
		{"4829", fourDigits, likely},
		{"2024", fourDigits, unlikely},
		{"4829137", sevenDigits, doubtful},
		{"48291377", eightDigits, possible},
		{"4829137755", tenDigits, unlikely},
		{"123456", sixDigits, unlikely},
		{"482000", sixDigits, possible},
		{"48000", fiveDigits, doubtful},
		{"482 913", twoThrees, typical},
		{"4829 1348", evenGroups, likely},
		{"48 29 13", evenGroups, likely},
		{"48-29", irregular, possible},
		{"4 8 2 9 1 3", digitByDigit, typical},
		{"1 2 3 4 5 6", digitByDigit, doubtful},
		{"482.913", oddlyGrouped, unlikely},
		{"4829 13", unevenlyEnded, possible},
		{"G-482913", prefixed, typical},
		{"Winter4821", chosenPassword, unlikely},
		{"SPRING30", wordAndNumber, unlikely},
		{"KXPQ", lettersAlone, unlikely},
		{"K7P2XD", fiveToEight, possible},
		{"K7P2XD4M9Q", fewerOrMore, doubtful},
		{"k7p2xd", withSmall, unlikely},
	} {
		p := Read("", "Code: "+c.text, "")
		p.findCandidates()
		if len(p.found) != 1 {
			t.Errorf("findCandidates of %q: %d candidates, want 1", c.text, len(p.found))
			continue
		}
		if got := &p.found[0]; got.form != c.form || got.likeness() != c.like {
			t.Errorf("%q has the form %d and the likeness %d, want %d and %d", c.text, got.form, got.likeness(), c.form, c.like)
		}
		p.Discard()
	}
}
