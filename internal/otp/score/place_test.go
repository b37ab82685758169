package score

import "testing"

// TestObjections says what speaks against the last number of a mail where it stands.
func TestObjections(t *testing.T) {
	for _, c := range []struct {
		head, text, html string
		want             objection
	}{
		{"Fernhill", "Your code is 482913.", "", 0},
		{"Fernhill", "", "<p>Your code is <s>482913</s>.</p>", crossedOut},
		{"Fernhill", "Your code was sent on 4 November 2026.", "", aYear},
		{"OTP report 2026", "", "", aYear},
		{"Your taxi", "Please show 4829 to the driver.", "", toPerson},
		{"Receipt", "Paid €20.00, authorisation code 482913", "", madePayment},
		{"New device", "A new device signed in from Leeds yesterday. It has the code 482913.", "", inReport},
		{"Number verified", "Code 482913 matched.", "", inOutcome},
		{"Invitation", "Meeting 771 2209 4410, passcode 482913", "", secretBeside},
		{"Your card", "Card number 40028817 PIN 4829", "", secretOfOne},
		{"Beware", "They write “your code is 482913”.", "", quotedWords},
	} {
		p := Read(c.head, c.text, c.html)
		p.findCandidates()
		s := scoring{p: p, cs: p.found}
		s.run()
		if len(s.cs) == 0 {
			t.Errorf("%q, %q has no candidate, want one", c.head, c.text+c.html)
			continue
		}
		if got := s.cs[len(s.cs)-1].objections; got != c.want {
			t.Errorf("objections in %q, %q are %010b, want %010b", c.head, c.text+c.html, got, c.want)
		}
		p.Discard()
	}
}
