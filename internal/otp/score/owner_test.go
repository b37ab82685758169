package score

import "testing"

// TestOwners says what owns the first number of a sentence.
func TestOwners(t *testing.T) {
	for _, c := range []struct {
		text string
		kind ownerKind
		held bool
		word string // shown by an explanation
	}{
		{"Order 482913 was sent.", byNoun, false, "Order"},
		{"Order placed by Mr Grey: 482913", byNounNearby, false, "Order"},
		{"Promo code 482913", byOtherCode, false, "Promo code"},
		{"Today we sent 482913 orders.", byNounBehind, false, "orders"},
		{"You have 4829 points.", byUnit, false, "points"},
		{"482913 has expired.", bySpent, false, "has expired"},
		{"Your old code 482913 is replaced.", bySpent, false, "old code"},
		{"See #482913.", bySign, false, ""},
		{"Merged !48291 today.", byNoun, false, ""},
		{"Your code for Fernhill (account 40028817)", byNoun, false, "account"},
		{"Your verification code is 482913.", unowned, false, ""},
		{"Your verification code for order 77: 482913", byNoun, true, "order"},
		{"Enter 482913 to link your card.", unowned, false, ""},
	} {
		p := Read("", c.text, "")
		p.findCandidates()
		s := scoring{p: p, cs: p.found}
		s.run()
		if len(s.cs) == 0 {
			t.Errorf("%q has no candidate, want one", c.text)
			continue
		}
		got := s.cs[0].owner
		if word := p.Shown(got.mark.Start, got.mark.End); got.kind != c.kind || got.held != c.held || word != c.word {
			t.Errorf("owner in %q: kind %d, held %t, %q; want %d, %t, %q", c.text, got.kind, got.held, word, c.kind, c.held, c.word)
		}
		p.Discard()
	}
}
