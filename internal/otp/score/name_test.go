package score

import "testing"

// TestNames says which word names a number, and how closely.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		head, text, code string
		word             string // "" where none names it
		closeness        closeness
	}{
		{"Fernhill", "Your verification code is 482913.", "482913", "verification code", 6868},
		{"Fernhill", "482913 is your verification code.", "482913", "verification code", 6400},
		{"Fernhill", "Enter the verification code 482913 below.", "482913", "verification code", 6000},
		{"Fernhill", "Your code: 482913", "482913", "code", 5050},
		{"Fernhill", "Your code 482913.", "482913", "code", 3950},
		{"Fernhill", "Your code 482913 is here.", "482913", "code", 2850},
		{"Fernhill", "REED27 is your sign-in code.", "REED27", "code", 5200},
		{"Fernhill", "Use the code 602817 to confirm your email address.", "602817", "code", 5050},
		{"Fernhill", "Tek seferlik giriş: 77 20 48", "77 20 48", "Tek seferlik", 4468},
		{"Sign in", "Verification code 7710\n482913", "482913", "Verification code", 3000},
		{"Sign in", "Verification code 7710\n482913", "7710", "Verification code", 6600},
		{"Sign form", "Your signing code for the form of yesterday is:\n\n3082 5519", "3082 5519", "signing code", 7000},
		{"Crossword", "Last week's answer was PASSCODE. Winner: reader 20471.", "20471", "PASSCODE", 3360},
		{"Your verification code", "code 482913", "482913", "code", 5450},
		{"Your paint", "The paint code is 4829.", "4829", "code", 3918},
		{"Wartung", "Der Störcode ist 3042.", "3042", "Störcode", 2918},
		{"Accesso al tuo account", "Codice pratico: 91274", "91274", "Codice", 418},
		{"Your parcel", "Fetch it with the code 771204 by Friday.", "771204", "code", 1650},
		{"Your parcel", "The order code is 771204.", "771204", "", 0},
		{"Fernhill", "It is in Pune, PIN code 560011.", "560011", "PIN code", 1450},
		{"Fernhill", "Password: 596274. It is good for five minutes.", "596274", "Password:", 4600},
		{"Fernhill", "See you at 482913.", "482913", "", 0},
	} {
		p := Read(c.head, c.text, "")
		p.findCandidates()
		s := scoring{p: p, cs: p.found}
		s.run()
		found := false
		for k := range s.cs {
			got := &s.cs[k]
			if p.Shown(got.start, got.end) != c.code {
				continue
			}
			found = true
			word := ""
			if got.name.mark >= 0 {
				m := &p.Marks[got.name.mark]
				word = p.Shown(m.Start, m.End)
			}
			if word != c.word || got.name.closeness != c.closeness {
				t.Errorf("%s in %q, %q is named by %q, closeness %d; want %q, %d", c.code, c.head, c.text, word, got.name.closeness, c.word, c.closeness)
			}
		}
		if !found {
			t.Errorf("the candidates of %q lack %q, want it among them", c.text, c.code)
		}
		p.Discard()
	}
}
