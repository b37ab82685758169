package otptest

import (
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// ParseAround reads what senders put around their mails: pieces after a line
// "== below de" or "== above *", where the language is that of the mails that
// have it, and the star is for all.
func ParseAround(text string) (all []Variation, err error) {
	for chunk := range strings.SplitSeq("\n"+text, "\n== ") {
		head, piece, _ := strings.Cut(chunk, "\n")
		where, lang, _ := strings.Cut(head, " ")
		v := Variation{Name: head, lang: strings.TrimPrefix(lang, "*")}
		piece = strings.TrimSpace(piece)
		switch where {
		case "":
			continue
		case "above":
			v.change = func(m *otp.Mail, _ string) { m.Text = piece + "\n\n" + m.Text }
		case "below":
			v.change = func(m *otp.Mail, _ string) { m.Text = strings.TrimRight(m.Text, "\n") + "\n\n" + piece + "\n" }
		default:
			return nil, fmt.Errorf("head %q: want above or below", head)
		}
		all = append(all, v)
	}
	return all, nil
}

// Around counts how mails are read with each of some pieces around.
func Around(pieces []Variation, cs []Case) (t Tally) {
	for _, v := range pieces {
		t = t.Plus(Count(v.Of(cs)))
	}
	return t
}
