package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what a person can paste into a note. Progress goes elsewhere.
type report struct {
	out, progress io.Writer
	chart         chart
}

func (r *report) header(b *bench) {
	r.chart.caption = []string{"Medians of one run, see docs/performance.md.", machine(b.scratch)}
	r.say("Gonebox side by side. %s.", machine(b.scratch))
	r.say("Figures are medians of the rounds (least–most). Contestants take turns in short slices, and a ratio is formed within a round.")
}

func (r *report) footer(took time.Duration) { r.say("\nThe run took %s.", took.Round(time.Second)) }

func (r *report) say(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

// note tells the person who waits how far it is.
func (r *report) note(format string, args ...any) {
	fmt.Fprintf(r.progress, "… "+format+"\n", args...)
}

// table prints rows in aligned columns, the first row being the heading.
func (r *report) table(rows [][]string) {
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	_ = w.Flush() // a failed write to the terminal cannot be reported
}

// target reports whether a figure that should be at least (or, with most, at most) so much is.
func (r *report) target(what string, got, want float64, most bool, unit string) {
	word, met := "at least", got >= want
	if most {
		word, met = "at most", got <= want
	}
	verdict := "met"
	if !met {
		verdict = "MISSED"
	}
	r.say("  target: %s %s %.4g%s: %.4g%s, %s", what, word, want, unit, got, unit, verdict)
}
