package score

import (
	"slices"
	"testing"
)

// TestReasonsAreTheLargest holds that an explanation names what gave or took most, and says
// what all else comes to.
func TestReasonsAreTheLargest(t *testing.T) {
	all := []reason{{0.25, "little"}, {-6, "much"}, {1, "some"}}
	if got, want := largest(all), []string{"-6.0 much", "+1.0 some", "+0.2 little"}; !slices.Equal(got, want) {
		t.Errorf("largest(%v) = %q, want %q", all, got, want)
	}
	all = nil
	for range maxReasons {
		all = append(all, reason{2, "more"})
	}
	all = append(all, reason{0.5, "a"}, reason{-1, "b"})
	if got := largest(all); len(got) != maxReasons+1 || got[maxReasons] != "-0.5 of 2 more" {
		t.Errorf("largest of 12 reasons = %q, want the ten of 2, and -0.5 of 2 more", got)
	}
}

// TestExplanationNamesTheRows holds that each candidate of an explanation has its reasons, and one
// with a veto that alone.
func TestExplanationNamesTheRows(t *testing.T) {
	p := Read("Your order 55512", "Your verification code is 482913. It was sent at 10:25.", "")
	defer p.Discard()
	_, all := p.Judge(true)
	want := [][]string{
		{"-6.0 it belongs to “order”"},
		{"+6.9 after “verification code”", "+1.0 six digits"},
		{aFigure},
	}
	if len(all) != len(want) {
		t.Fatalf("Judge(true) gives %d candidates, %+v, want %d", len(all), all, len(want))
	}
	for i, c := range all {
		for _, r := range want[i] {
			if !slices.Contains(c.Reasons, r) {
				t.Errorf("the reasons for %s are %q, want %q among them", c.Display, c.Reasons, r)
			}
		}
	}
}
