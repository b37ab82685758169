package score

import "testing"

// TestOrders says whether an order asks to enter the first number of a text.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		text string
		want order // without its mark
	}{
		{"Enter 482913.", order{given: besideNumber}},
		{"To sign in, enter 482913.", order{given: besideNumber, aimed: true}},
		{"Enter the code 482913.", order{given: besideNumber, weak: true}},
		{"Please use PO 482913 next time.", order{given: besideNumber, unknown: true}},
		{"Type this on the television:\n\n482913", order{given: inLineAbove}},
		{"482913\nType this on the television.", order{given: inLineBelow}},
		{"The office is at 5200, use the spare key.", order{}},
		{"Your code is 482913.", order{}},
	} {
		p := Read("Fernhill", c.text, "")
		p.findCandidates()
		s := scoring{p: p, cs: p.found}
		s.run()
		if len(s.cs) == 0 {
			t.Errorf("%q has no candidate, want one", c.text)
			continue
		}
		got := s.cs[0].order
		if got.mark = 0; got != c.want {
			t.Errorf("the order in %q is %+v, want %+v", c.text, got, c.want)
		}
		p.Discard()
	}
}
