package score

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// perRune is how many steps the extractor may take for each rune of a mail,
// and perMail how many more for the candidates, whose number is bounded.
const (
	perRune = 40
	perMail = maxCandidates * 2000
)

// FuzzSteps counts steps instead of time: the work must stay within a multiple
// of the length, and the code must be in the text that was read.
func FuzzSteps(f *testing.F) {
	f.Add("Your code", "Your verification code is 482 913.", "<b>482913</b>")
	for _, unit := range []string{"verification ", "kod", "code 482913 ", "a@", "a.b/", "bestellnummer", "код", "验证码", "1 2 3 4 5 6 ", "*", "kodkod ", "<td>1", "人"} {
		s := strings.Repeat(unit, 4000/len(unit))
		f.Add("", s, s)
	}
	f.Fuzz(func(t *testing.T, subject, text, html string) {
		p := Read(subject, text, html)
		p.findCandidates()
		s := scoring{p: p, cs: p.found}
		s.run()
		if limit := perRune*(len(p.Low)+len(text)+len(html)) + perMail; p.Steps > limit {
			t.Errorf("%d steps for %d runes, want Steps at most %v", p.Steps, len(p.Low), limit)
		}
		if w := s.winner(); w >= 0 {
			contained(t, p, p.value(&s.cs[w]))
		}
	})
}

// contained says that the letters and digits of a code stand in the page, in
// their order and with nothing but separators between them.
func contained(t *testing.T, p *Reading, code string) {
	t.Helper()
	var all strings.Builder
	for _, r := range p.Low {
		if page.IsAlnum(r) {
			all.WriteRune(r)
		}
	}
	bare := strings.ToLower(strings.ReplaceAll(code, "-", ""))
	if !strings.Contains(all.String(), bare) {
		t.Errorf("the text is %q, want the code %q in it", all.String(), bare)
	}
}

func TestStepsDouble(t *testing.T) {
	for _, unit := range []string{"verification code ", "kod", "bestellnummer", "code 482913 ", "a@", "a.b/c ", "1-", "验证码", "код подтверждения ", "Acme 12, 90210 Town, "} {
		var last int
		for _, n := range []int{4 << 10, 8 << 10, 16 << 10, 32 << 10} {
			s := strings.Repeat(unit, n/len(unit))
			p := Read("", s, "")
			p.findCandidates()
			sc := scoring{p: p, cs: p.found}
			sc.run()
			if last > 0 && p.Steps > 2*last+perMail/100 {
				t.Errorf("%q: %d steps for %d octets, want at most double the %d for half", unit, p.Steps, n, last)
			}
			last = p.Steps
		}
	}
}
