package score_test

import (
	"math"
	"testing"
)

// The regression is a conditional logistic one: a mail's answers are its candidates, each
// as likely as the exponential of its score above the threshold, and no code, with 1.

// outcome is a candidate of a mail: its score, and how much that changes with each weight.
type outcome struct {
	score float64 // above the threshold
	right bool
	slope []slope
}

// slope is the derivative of a score with respect to a weight.
type slope struct {
	row  int
	size float64
}

// span is how far a weight may be shifted, and the share of the pull that holds it.
type span struct{ from, to, pull float64 }

// spanOf lets a weight go to the half of its guess or as far above it, a fixed one not
// at all, and one without a guess anywhere, with a weak pull.
func spanOf(r row) span {
	switch half := math.Abs(r.guess) / 2; {
	case r.fixed:
		return span{0, 0, 1}
	case half > 0:
		return span{-half, half, 1}
	}
	return span{math.Inf(-1), math.Inf(1), weak}
}

const (
	// A weight leaves its guess only if that gains more than pullFlat for each unit, in
	// log-likelihood, and goes the less far the greater pullSteep is. Weaker pulls fit the
	// working half better and read other mails worse.
	pullFlat  = 15.0
	pullSteep = 60.0
	weak      = 0.1

	dear     = 1.5 // how many times a mail without a code counts: a wrong code is worse than none
	farthest = 0.8 // a step of one weight in one round
)

// odds sums the exponentials of the scores: of all candidates and of no code, and of the
// right candidates. The latter is 0 where no code is right.
func odds(mail []outcome) (all, right float64) {
	all = 1
	for _, o := range mail {
		e := math.Exp(o.score)
		all += e
		if o.right {
			right += e
		}
	}
	return all, right
}

// loss is the negative log-likelihood of the right answer: one of the right candidates,
// or no code if there is none.
func loss(mail []outcome) float64 {
	all, right := odds(mail)
	if right == 0 {
		return dear * math.Log(all)
	}
	return math.Log(all / right)
}

// penalty is what the shifts of the weights cost.
func penalty(shift []float64, allowed []span) (n float64) {
	for i, x := range shift {
		n += allowed[i].pull * (pullFlat*math.Abs(x) + pullSteep/2*x*x)
	}
	return n
}

// step gives the shifts at which the sum of losses and penalty is least, as far as slopes
// and curvature at the present shifts say (a proximal step of Newton's method).
func step(mails [][]outcome, shift []float64, allowed []span) []float64 {
	n := len(shift)
	grad, curve := make([]float64, n), make([][]float64, n)
	for i := range curve {
		curve[i] = make([]float64, n)
	}
	mean := make([]float64, n)
	for _, m := range mails {
		all, right := odds(m)
		times := 1.0
		if right == 0 {
			times = dear
		}
		var touched []int
		for _, o := range m {
			p := math.Exp(o.score) / all
			pull := p
			if o.right {
				pull -= math.Exp(o.score) / right
			}
			for _, a := range o.slope {
				grad[a.row] += times * pull * a.size
				if mean[a.row] == 0 {
					touched = append(touched, a.row)
				}
				mean[a.row] += p * a.size
				for _, b := range o.slope {
					curve[a.row][b.row] += times * p * a.size * b.size
				}
			}
		}
		for _, i := range touched {
			for _, k := range touched {
				curve[i][k] -= times * mean[i] * mean[k]
			}
		}
		for _, i := range touched {
			mean[i] = 0
		}
	}
	return descend(grad, curve, shift, allowed)
}

// descend solves the quadratic problem of a step by coordinate descent.
func descend(grad []float64, curve [][]float64, shift []float64, allowed []span) []float64 {
	const sweeps = 200
	n := len(shift)
	x, moved := append([]float64(nil), shift...), make([]float64, n) // moved is curve times the move so far
	for range sweeps {
		for i := range x {
			h := curve[i][i] + 1e-6
			// Least where h(z - x) + grad + moved + steep z ± flat is 0.
			flat, steep := allowed[i].pull*pullFlat, allowed[i].pull*pullSteep
			b := h*x[i] - grad[i] - moved[i]
			z := 0.0
			if math.Abs(b) > flat {
				z = (b - math.Copysign(flat, b)) / (h + steep)
			}
			z = min(max(z, shift[i]-farthest, allowed[i].from), shift[i]+farthest, allowed[i].to)
			if d := z - x[i]; d != 0 {
				for k := range moved {
					moved[k] += d * curve[k][i]
				}
				x[i] = z
			}
		}
	}
	return x
}

// TestRegression holds that a new row that starts at 0 finds the weight that the mails
// have evidence for, and one with a guess and little evidence keeps the guess.
func TestRegression(t *testing.T) {
	const (
		useful = 0
		random = 1
	)
	mails := func(shift []float64) (all [][]outcome) {
		for i := range 400 {
			right := i%4 != 0
			o := outcome{score: -0.5, right: right}
			if right == (i%10 != 1) {
				o.slope = append(o.slope, slope{useful, 1})
			}
			if i%3 == 0 {
				o.slope = append(o.slope, slope{random, 1})
			}
			for _, s := range o.slope {
				o.score += shift[s.row] * s.size
			}
			all = append(all, []outcome{o})
		}
		return all
	}
	shift, allowed := make([]float64, 2), []span{spanOf(row{}), spanOf(row{guess: 1})}
	for range 10 {
		shift = step(mails(shift), shift, allowed)
	}
	if shift[useful] < 1 || math.Abs(shift[random]) > 0.1 {
		t.Errorf("shifts %.3f; want more than 1 and nearly 0", shift)
	}
	if again := step(mails(shift), shift, allowed); math.Abs(again[useful]-shift[useful]) > 0.01 {
		t.Errorf("the shifts are %.3f, and in another round %.3f, want hardly another of the useful one", shift, again)
	}
	if fixed := step(mails([]float64{0, 0}), []float64{0, 0}, []span{spanOf(row{fixed: true}), spanOf(row{})}); fixed[useful] != 0 {
		t.Errorf("a fixed weight is shifted by %.3f, want 0", fixed[useful])
	}
}
