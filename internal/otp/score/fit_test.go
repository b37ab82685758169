package score_test

import (
	"bytes"
	"math"
	"os"
	"testing"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/otptest"
	"github.com/gonebox/gonebox/internal/otp/score"
)

// sample is a labelled mail that has been read.
type sample struct {
	mail *score.Reading
	want string
}

// samples reads the mails that weights are fitted to: those of the working half as if
// their wording were new, since that is how others are met, and what must be right
// whatever else is.
func samples(t *testing.T) (all []sample) {
	cs := mails(t, "corpus")
	for i, own := range otptest.OwnPhrases(cs) {
		remember := lexicon.Forget(own)
		s := sample{score.Read(cs[i].Mail.Subject, cs[i].Mail.Text, cs[i].Mail.HTML), cs[i].Want}
		s.mail.FindAll() // before the phrases are known again
		all = append(all, s)
		remember()
	}
	for _, folder := range []string{"ordinary", "words"} {
		for _, c := range mails(t, folder) {
			all = append(all, sample{score.Read(c.Mail.Subject, c.Mail.Text, c.Mail.HTML), c.Want})
		}
	}
	return all
}

// outcomes scores the candidates of a mail.
func (s sample) outcomes() []outcome {
	cs := s.mail.Scores()
	all := make([]outcome, len(cs))
	for i, c := range cs {
		all[i] = outcome{score: c.Score - score.Threshold, right: s.want != "" && c.Value == s.want}
	}
	return all
}

// trace gives the outcomes of a mail with their slopes: each free weight is changed by
// a little. A condition that hangs on a weight has no slope where it turns over.
func (s sample) trace(rows []row, now []float64) []outcome {
	const (
		little = 1.0 / 1024
		turns  = 60 // steeper than anything that is counted
	)
	all := s.outcomes()
	for i, r := range rows {
		if r.fixed {
			continue
		}
		changed := s.with(r.name, now[i]+little)
		for k := range all {
			d := (changed[k].score - all[k].score) / little
			if math.Abs(d) > turns {
				d = (all[k].score - s.with(r.name, now[i]-little)[k].score) / little
			}
			if d != 0 && math.Abs(d) <= turns {
				all[k].slope = append(all[k].slope, slope{i, math.Round(d*1e6) / 1e6})
			}
		}
	}
	return all
}

// with scores the mail with another weight.
func (s sample) with(name string, weight float64) []outcome {
	defer score.Reweigh(name, weight)()
	return s.outcomes()
}

// model is the table while it is fitted.
type model struct {
	rows    []row
	samples []sample
	allowed []span
}

// weigh sets the weights to the guesses and their shifts.
func (m model) weigh(shift []float64) (now []float64) {
	for i, r := range m.rows {
		now = append(now, r.guess+shift[i])
		score.Reweigh(r.name, now[i])
	}
	return now
}

// result is how the mails are read with some shifts.
type result struct {
	cost          float64 // the loss of all mails and the penalty
	taken, missed int     // wrong codes, and codes that were not found
}

// faults counts what is read wrong, a wrong code as dear ones that were not found.
func (r result) faults() float64 { return dear*float64(r.taken) + float64(r.missed) }

// betterThan reports whether a result costs clearly less than another, with no more faults.
func (r result) betterThan(o result) bool {
	const least = 0.1
	return r.cost < o.cost-least && r.faults() <= o.faults()
}

// read reads all mails with some shifts.
func (m model) read(shift []float64) result {
	m.weigh(shift)
	r := result{cost: penalty(shift, m.allowed)}
	for _, s := range m.samples {
		all := s.outcomes()
		r.cost += loss(all)
		best := outcome{right: s.want == ""}
		for _, o := range all {
			if o.score >= 0 && o.score >= best.score {
				best = o
			}
		}
		switch {
		case best.right:
		case best.score > 0:
			r.taken++
		default:
			r.missed++
		}
	}
	return r
}

// round finds better shifts, in hundredths, or reports that there are none: the score is
// not linear, so a step that is not better is halved.
func (m model) round(shift []float64, is result) ([]float64, result, bool) {
	const (
		clear  = 1e-3 // a mail with a smaller loss has no slope worth its time
		halves = 4
	)
	now := m.weigh(shift)
	var traced [][]outcome
	for _, s := range m.samples {
		if loss(s.outcomes()) > clear {
			traced = append(traced, s.trace(m.rows, now))
		}
	}
	to := step(traced, shift, m.allowed)
	for range halves {
		next := make([]float64, len(to))
		for i := range to {
			next[i] = math.Round(to[i]*100) / 100
		}
		if r := m.read(next); r.betterThan(is) {
			return next, r, true
		}
		for i := range to {
			to[i] = (to[i] + shift[i]) / 2
		}
	}
	return shift, is, false
}

// fit takes rounds until none is better.
func (m model) fit(t *testing.T, shift []float64) []float64 {
	const rounds = 12
	is := m.read(shift)
	t.Logf("%d mails: %+v", len(m.samples), is)
	for better, n := true, 0; better && n < rounds; n++ {
		shift, is, better = m.round(shift, is)
		t.Logf("round %d: %+v", n+1, is)
	}
	return shift
}

// TestFit fits the table from its guesses, whatever was fitted before, so that the result
// depends on the guesses, the mails and the code alone.
func TestFit(t *testing.T) {
	if !*fit {
		t.Skip("make otp-fit")
	}
	src, rows := weights(t)
	m := model{rows: rows, samples: samples(t)}
	shift := make([]float64, len(m.rows))
	for _, guessed := range []bool{false, true} { // rows without a guess first, so that no other makes up for them
		m.allowed = nil
		for _, r := range m.rows {
			if a := spanOf(r); guessed || r.guess == 0 {
				m.allowed = append(m.allowed, a)
			} else {
				m.allowed = append(m.allowed, span{pull: 1})
			}
		}
		shift = m.fit(t, shift)
	}
	hundredths := make([]int, len(shift))
	for i, x := range shift {
		if hundredths[i] = int(math.Round(x * 100)); hundredths[i] != 0 {
			t.Logf("%-22s %5.2f %+.2f", m.rows[i].name, m.rows[i].guess, x)
		}
	}
	text, err := writeTable(src, m.rows, hundredths)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(text, src) {
		return
	}
	if err := os.WriteFile("weights.go", text, 0o644); err != nil {
		t.Fatal(err)
	}
}
