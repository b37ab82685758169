package otptest

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/gonebox/gonebox/internal/otp"
)

// Tally counts outcomes.
type Tally struct {
	Right  int // the code was found
	Wrong  int // another was given instead
	Missed int // none was given
	False  int // one was given for a mail that holds none
	Clean  int // none was given for such a mail
}

// Plus adds the outcomes of other mails.
func (t Tally) Plus(o Tally) Tally {
	return Tally{t.Right + o.Right, t.Wrong + o.Wrong, t.Missed + o.Missed, t.False + o.False, t.Clean + o.Clean}
}

// Precision is the share of the codes given that are right.
func (t Tally) Precision() float64 { return share(t.Right, t.Right+t.Wrong+t.False) }

// Recall is the share of the codes there are that were found.
func (t Tally) Recall() float64 { return share(t.Right, t.Right+t.Wrong+t.Missed) }

// F1 is the harmonic mean of the two.
func (t Tally) F1() float64 {
	p, r := t.Precision(), t.Recall()
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// FalsePositives is the share of the mails without a code that one was taken
// from.
func (t Tally) FalsePositives() float64 {
	if t.False+t.Clean == 0 {
		return 0
	}
	return float64(t.False) / float64(t.False+t.Clean)
}

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// Score is the count of a set of mails, in all and apart.
type Score struct {
	All     Tally
	Twice   Tally // of those of text alone, when the same stands beside it in HTML
	ByLang  map[string]*Tally
	ByClass map[string]*Tally
	Faults  []Fault
}

// Fault is a mail that was not read right.
type Fault struct {
	Case Case
	Got  string
}

// Run extracts from every mail. Those of text alone are read a second time, with
// the same in HTML beside it.
func Run(cs []Case) Score {
	s := RunWith(cs, extract)
	s.Twice = Count(Twice(cs))
	return s
}

// Count is what Run counts in all, and no more.
func Count(cs []Case) Tally { return RunWith(cs, extract).All }

func extract(c Case) string { return otp.Extract(c.Mail).Code }

// RunWith is Run with another extractor, which returns the code or nothing.
func RunWith(cs []Case, read func(Case) string) Score {
	s := Score{ByLang: map[string]*Tally{}, ByClass: map[string]*Tally{}}
	for _, c := range cs {
		got := read(c)
		for _, t := range []*Tally{&s.All, at(s.ByLang, c.Lang), at(s.ByClass, c.Class)} {
			t.add(c.Want, got)
		}
		if got != c.Want {
			s.Faults = append(s.Faults, Fault{c, got})
		}
	}
	return s
}

func at(m map[string]*Tally, key string) *Tally {
	if m[key] == nil {
		m[key] = new(Tally)
	}
	return m[key]
}

func (t *Tally) add(want, got string) {
	switch {
	case want == "" && got == "":
		t.Clean++
	case want == "":
		t.False++
	case got == want:
		t.Right++
	case got == "":
		t.Missed++
	default:
		t.Wrong++
	}
}

// Print writes the tables of a score.
func (s Score) Print(w io.Writer, title string) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\tmails\twith code\tprecision\trecall\tF1\tfalse positives\t\n", title)
	row(t, "all", s.All)
	row(t, "text, and in HTML", s.Twice)
	fmt.Fprintln(t, "by class\t\t\t\t\t\t\t")
	rows(t, s.ByClass)
	fmt.Fprintln(t, "by language\t\t\t\t\t\t\t")
	rows(t, s.ByLang)
	return t.Flush()
}

// PrintVariations writes how mails are read that senders vary, and with what others
// wrote around.
func PrintVariations(w io.Writer, title string, cs []Case, pieces []Variation) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s, with\tmails\twith code\tprecision\trecall\tF1\tfalse positives\t\n", title)
	for _, v := range Variations() {
		row(t, v.Name, Count(v.Of(cs)))
	}
	row(t, fmt.Sprintf("%d pieces of others", len(pieces)), Around(pieces, cs))
	return t.Flush()
}

func rows(w io.Writer, m map[string]*Tally) {
	for _, k := range slices.SortedFunc(maps.Keys(m), cmp.Compare[string]) {
		row(w, k, *m[k])
	}
}

func row(w io.Writer, name string, t Tally) {
	with := t.Right + t.Wrong + t.Missed
	fmt.Fprintf(w, "%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t\n",
		name, with+t.False+t.Clean, with, t.Precision(), t.Recall(), t.F1(), t.FalsePositives())
}
