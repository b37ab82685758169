package otptest

import (
	"slices"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
)

// OwnPhrases gives, for each mail, the numbers of those phrases it is understood by that no
// other of the mails has. Without them (lexicon.Forget) it is read as if its wording were new.
func OwnPhrases(cs []Case) [][]int32 {
	own, mails := make([][]int32, len(cs)), map[int32]int{}
	for i, c := range cs {
		var t lexicon.Text
		t.Read(c.Mail.Subject, c.Mail.Text, c.Mail.HTML)
		own[i] = t.Phrases()
		for _, phrase := range own[i] {
			mails[phrase]++
		}
	}
	for i := range own {
		own[i] = slices.DeleteFunc(own[i], func(phrase int32) bool { return mails[phrase] > 1 })
	}
	return own
}
