package main

import (
	"fmt"
	"math"
	"slices"
)

// series is a figure as the rounds gave it.
type series []float64

// quantile is the value that a share q of the series does not exceed; 0.5 is the median.
func (s series) quantile(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func (s series) median() float64 { return s.quantile(0.5) }

// over divides round by round.
func (s series) over(other series) series {
	ratio := make(series, min(len(s), len(other)))
	for i := range ratio {
		ratio[i] = s[i] / other[i]
	}
	return ratio
}

// plus adds round by round.
func (s series) plus(other series) series {
	sum := make(series, min(len(s), len(other)))
	for i := range sum {
		sum[i] = s[i] + other[i]
	}
	return sum
}

// spread is the median and, in brackets, the least and the most.
func (s series) spread(format string) string {
	if len(s) == 0 {
		return "–"
	}
	return fmt.Sprintf(format+" ("+format+"–"+format+")", s.median(), slices.Min(s), slices.Max(s))
}
