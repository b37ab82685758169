package otptest

import (
	"fmt"
	"iter"
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// Sentences is what services of one language write in their plainest mails. %b
// stands for the brand and %c for the code or number.
type Sentences struct {
	Lang     string
	Subjects []string // that name a code
	Says     []string // with the code
	Warnings []string
	Notices  []string // with a number that is no code
}

// brands are names of services that do not exist. Many end in a noun that an
// extractor may take for the owner of the number.
var brands = []string{
	"Fernhill", "Tarn", "Pine ID", "Pine Store", "Pine Mobile", "Pine Bank", "Pine Card", "Pine Club", "Pine Studio", "Pine Shop",
	"Pine Pay", "Pine Travel", "Pine Cloud", "Pine Games", "Pine Market", "Pine Health", "Pine Wallet", "Pine Air", "Pine Ticket", "Pine Delivery",
	"Pine Post", "Pine Hotel", "Pine Account", "Pine Support", "Pine Mail", "Pine Phone", "Larch & Co", "elmtree.example", "Oak24", "BIRCH",
}

// matrixCodes are codes as the plain mails show them, with what is to be pasted.
var matrixCodes = []struct{ shown, want string }{{"482913", "482913"}, {"7719", "7719"}, {"K7P2XD", "K7P2XD"}}

// matrixNumbers are what stands in a notice in place of a code.
var matrixNumbers = []string{"482913", "40028817"}

// keyedLines returns the first word of each line of a file in testdata, and the rest of the line. Empty lines and those
// that begin with "# " are left out.
func keyedLines(text string) iter.Seq2[string, string] {
	return func(yield func(key, rest string) bool) {
		for line := range strings.Lines(text) {
			key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if key != "" && key != "#" && !yield(key, rest) {
				return
			}
		}
	}
}

// ParseSentences reads testdata/matrix.txt: "== tag" and lines "s: subject |
// subject", "t:" for sentences with a code, "w:" for warnings, "n:" for notices.
func ParseSentences(text string) (all []Sentences, err error) {
	for key, rest := range keyedLines(text) {
		last := len(all) - 1
		parts := strings.Split(rest, " | ")
		switch {
		case key == "==":
			all = append(all, Sentences{Lang: rest})
		case last >= 0 && key == "s:":
			all[last].Subjects = parts
		case last >= 0 && key == "t:":
			all[last].Says = parts
		case last >= 0 && key == "w:":
			all[last].Warnings = parts
		case last >= 0 && key == "n:":
			all[last].Notices = parts
		default:
			return nil, fmt.Errorf("line %q: want == or a colon behind s, t, w or n", key+" "+rest)
		}
	}
	return all, nil
}

// Matrix generates the mails of a language: every sentence with every subject,
// warning, brand and kind of code, as text and as HTML, then every notice with
// every brand. The order is always the same.
func (s Sentences) Matrix() iter.Seq[Case] {
	return func(yield func(Case) bool) {
		for _, brand := range brands {
			for _, code := range matrixCodes {
				fill := strings.NewReplacer("%b", brand, "%c", code.shown)
				for _, say := range s.Says {
					for _, subject := range append([]string{"%b"}, s.Subjects...) {
						for _, warning := range append([]string{""}, s.Warnings...) {
							c := Case{Lang: s.Lang, Class: "signin", Want: code.want}
							if !both(c, fill.Replace(subject), fill.Replace(say), fill.Replace(warning), code.shown, yield) {
								return
							}
						}
					}
				}
			}
			for _, number := range matrixNumbers {
				fill := strings.NewReplacer("%b", brand, "%c", number)
				for _, notice := range s.Notices {
					c := Case{Lang: s.Lang, Class: "notice"}
					if !both(c, brand, fill.Replace(notice), "", number, yield) {
						return
					}
				}
			}
		}
	}
}

// both yields a mail as text, and as HTML with the code in bold.
func both(c Case, subject, say, warning, shown string, yield func(Case) bool) bool {
	c.Name = fmt.Sprintf("%s %s: %s / %s / %s", c.Lang, c.Class, subject, say, warning)
	c.Mail = otp.Mail{Subject: subject, Text: strings.TrimSpace(say+"\n\n"+warning) + "\n"}
	if !yield(c) {
		return false
	}
	c.Name += " (HTML)"
	c.Mail = otp.Mail{Subject: subject, HTML: "<p>" + strings.ReplaceAll(say, shown, "<b>"+shown+"</b>") + "</p><p>" + warning + "</p>"}
	return yield(c)
}
