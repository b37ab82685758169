package otptest

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// ReadAround reads what senders put around their mails from every *.txt of a
// directory: pieces after a line "== below de" or "== above *", where the language
// is that of the mails that have it, and the star is for all.
func ReadAround(fsys fs.FS) (all []Variation, err error) {
	names, err := fs.Glob(fsys, "*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		for chunk := range strings.SplitSeq("\n"+string(text), "\n== ") {
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
				return nil, fmt.Errorf("%s: head %q: want above or below", name, head)
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// Around counts how the mails of a half are read with each of some pieces around.
func Around(pieces []Variation, cs []Case, half Half) (t Tally) {
	for _, v := range pieces {
		t = t.Plus(Count(v.Of(cs), half))
	}
	return t
}
