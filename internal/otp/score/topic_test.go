package score

import "testing"

// surroundingsOf reads a mail and gives what is around its first candidate.
func surroundingsOf(t *testing.T, head, text string) surroundings {
	t.Helper()
	p := Read(head, text, "")
	p.findCandidates()
	s := scoring{p: p, cs: p.found}
	s.run()
	if len(s.cs) == 0 || s.cs[0].around == nil {
		t.Fatalf("%q, %q has no candidate that can be a code, want one", head, text)
	}
	return *s.cs[0].around
}

// TestSubjects says what the subject of a mail makes of it.
func TestSubjects(t *testing.T) {
	for _, c := range []struct {
		head string
		want subject
	}{
		{"Your verification code", subject{name: codeName}},
		{"Code", subject{name: weakName, only: true}},
		{"Sign in to Fernhill", subject{auth: true}},
		{"Your order", subject{noun: true, trade: true}},
		{"Your booking is confirmed", subject{noun: true, trade: true, done: true}},
		{"Your verification code has expired", subject{old: true, talk: true}},
		{"Never share your verification code", subject{guard: true, talk: true}},
		{"482913 is your code (expires soon)", subject{name: weakName, guard: true}},
		{"Your ticket was cancelled", subject{noun: true, trade: true}},
		{"News from Fernhill", subject{}},
	} {
		if got := *surroundingsOf(t, c.head, "Look here: 482913").subject; got != c.want {
			t.Errorf("the subject %q says %+v, want %+v", c.head, got, c.want)
		}
	}
}

// TestTopics counts what stands around a number.
func TestTopics(t *testing.T) {
	for _, c := range []struct {
		text string
		want surroundings
	}{
		{"To sign in, enter 482913.", surroundings{topic: topic{auth: 1, use: true}}},
		{"Your login code is 482913. Do not share it.", surroundings{topic: topic{code: true, guard: 1}}},
		{"Enter 482913 on the page within 5 minutes.", surroundings{topic: topic{use: true, where: 1, brief: 1}}},
		{"Promo code 482913, 20 % less", surroundings{topic: topic{void: 2}, figures: 1}},
		{"Order 482913: €2,048.00 in all", surroundings{topic: topic{not: 1, textNouns: true, price: true}, figures: 2, amount: true}},
		{"Your password was changed. Ticket 482913", surroundings{topic: topic{auth: 1, not: 1, textNouns: true, done: true}, figures: 1}},
		{"Meeting ID 482913", surroundings{topic: topic{never: true, void: 1}, figures: 1}},
	} {
		got := surroundingsOf(t, "Fernhill", c.text)
		if got.subject == nil || !got.all {
			t.Errorf("around the number in %q is %+v, want all of the mail, with its subject", c.text, got)
		}
		got.subject, got.neighbourhood = nil, neighbourhood{}
		if got != c.want {
			t.Errorf("around the number in %q is %+v, want %+v", c.text, got, c.want)
		}
	}
}
