package score_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/otp/otptest"
	"github.com/gonebox/gonebox/internal/otp/score"
)

var fitting = flag.Bool("fit", false, "fit the weights to the working half and rewrite weights.go")

// Settings of the fit.
const (
	sharpness = 4.0  // of the step from none to the code at the threshold, so that mails near it count
	pull      = 0.02 // the evidence for each mail read, in log-odds per unit of weight, without which a weight stays
	caution   = 5.0  // how much more a mail without a code counts: a wrong code is worse than none
	probe     = 0.1  // how far a weight is moved to see what changes
	steepest  = 10.0 // changes beyond this are jumps to another reading of the mail, not slopes
	smallest  = 0.1  // moves below this are not worth a line in a diff
)

// structural are the rows that are not fitted: shares, and what rules a candidate out.
var structural = []string{"firmShare", "firmVoidShare", "inQuote", "inRows", "ownerHeld", "softCost", "tiedCost", "vetoed", "wordTaken"}

// A choice is one mail: which candidate it should be, if any, and what each comes to.
type choice struct {
	right []bool
	sums  []float64
}

// A slope is how the scores of a mail change with a weight.
type slope struct {
	mail int
	by   []float64
}

// fit gives new weights to the rows that have enough evidence. The loss is that of a
// logistic choice between the candidates of a mail and none, plus pull times the
// distance from the present weights. A weight that moves stops where its evidence has
// fallen to the pull, so a second fit leaves it there.
func fit(cs []otptest.Case, names []string) map[string]float64 {
	mails := make([]choice, len(cs))
	for i, c := range cs {
		for _, k := range scores(c) {
			mails[i].sums = append(mails[i].sums, k.Sum)
			mails[i].right = append(mails[i].right, k.Value == c.Want)
		}
	}
	all := make([][]slope, len(names))
	for r, name := range names {
		all[r] = slopes(cs, mails, name)
	}
	moved := make([]float64, len(names))
	for range 30 {
		for r := range names {
			step := descend(mails, all[r], moved[r]) - moved[r]
			moved[r] += step
			for _, s := range all[r] {
				for k, by := range s.by {
					mails[s.mail].sums[k] += step * by
				}
			}
		}
	}
	fitted := map[string]float64{}
	for r, name := range names {
		if math.Abs(moved[r]) >= smallest {
			fitted[name] = math.Round(100*(score.Weight(name)+moved[r])) / 100
		}
	}
	return fitted
}

func scores(c otptest.Case) []score.Score {
	return score.Scores(c.Mail.Subject, c.Mail.Text, c.Mail.HTML)
}

// slopes moves a weight and scores all mails again.
func slopes(cs []otptest.Case, mails []choice, name string) (all []slope) {
	defer score.Reweigh(name, score.Weight(name)+probe)()
	for i, c := range cs {
		s, changes := slope{mail: i}, false
		for k, is := range scores(c) {
			by := (is.Sum - mails[i].sums[k]) / probe
			if math.Abs(by) > steepest || math.Abs(by) < 1e-6 {
				by = 0
			}
			s.by, changes = append(s.by, by), changes || by != 0
		}
		if changes {
			all = append(all, s)
		}
	}
	return all
}

// descend gives how far one weight should be from its present value, by a Newton step
// of at most half a unit.
func descend(mails []choice, all []slope, moved float64) float64 {
	var gradient, curve float64
	for _, s := range all {
		g, c := mails[s.mail].evidence(s.by)
		gradient += g
		curve += c
	}
	curve += 1
	want := moved + gradient/curve
	to := math.Copysign(max(0, math.Abs(want)-pull*float64(len(mails))/curve), want)
	return moved + min(0.5, max(-0.5, to-moved))
}

// evidence is the gradient of a mail's log-likelihood along a slope, and its curvature.
func (m choice) evidence(by []float64) (gradient, curve float64) {
	var mean, square, hits, meanRight float64
	total, none := 1.0, true
	for k, sum := range m.sums {
		e := math.Exp(sharpness * max(-40, min(40, sum-score.Threshold)))
		total += e
		mean += e * by[k]
		square += e * by[k] * by[k]
		if m.right[k] {
			none = false
			hits += e
			meanRight += e * by[k]
		}
	}
	mean, square = mean/total, square/total
	gradient, curve = -sharpness*mean, sharpness*sharpness*(square-mean*mean)
	if none {
		return caution * gradient, caution * curve
	}
	return gradient + sharpness*meanRight/hits, curve
}

// TestFit holds that a weight set to 0 is fitted to near its value again.
func TestFit(t *testing.T) {
	cs := slices.DeleteFunc(mails(t, "corpus"), func(c otptest.Case) bool { return c.Lang != "en" && c.Lang != "de" })
	for _, name := range []string{"toldNumber", "yearShape", "digits6"} {
		is := score.Weight(name)
		undo := score.Reweigh(name, 0)
		got := fit(cs, []string{name})[name]
		undo()
		if share := got / is; share < 0.5 || share > 1.5 {
			t.Errorf("%s: fitted from 0 to %.2f, want near %.2f", name, got, is)
		}
	}
}

// TestFitAll rewrites the numbers in weights.go.
func TestFitAll(t *testing.T) {
	if !*fitting {
		t.Skip("make otp-fit")
	}
	names := slices.DeleteFunc(score.Features(), func(f string) bool { return slices.Contains(structural, f) })
	text, err := os.ReadFile("weights.go")
	if err != nil {
		t.Fatal(err)
	}
	fitted := fit(mails(t, "corpus"), names)
	for _, name := range names {
		weight, moves := fitted[name]
		if !moves {
			continue
		}
		t.Logf("%-22s %+.2f, was %+.2f", name, weight, score.Weight(name))
		row := regexp.MustCompile(`(?m)^(\t` + name + `\s+= &feature\{)[-0-9.]+,`)
		text = row.ReplaceAll(text, fmt.Appendf(nil, "${1}%v,", weight))
	}
	if err := os.WriteFile("weights.go", text, 0o644); err != nil {
		t.Fatal(err)
	}
}
