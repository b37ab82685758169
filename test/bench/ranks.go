package main

import (
	"math"
	"slices"
)

// mad is the median distance from the median: how far a value is off for no reason.
func (s series) mad() float64 {
	distances, median := make(series, len(s)), s.median()
	for i, v := range s {
		distances[i] = math.Abs(v - median)
	}
	return distances.median()
}

// shift is by how much the median of s is above that of other, in units of their pooled MAD.
func (s series) shift(other series) float64 {
	return (s.median() - other.median()) / math.Sqrt((s.mad()*s.mad()+other.mad()*other.mad())/2)
}

// ranked compares two series by the ranks of their values (Mann and Whitney). above is how likely a value of s is above
// one of other, and z how many standard deviations that is from the even chance of series that do not differ.
func (s series) ranked(other series) (above, z float64) {
	sorted := slices.Sorted(slices.Values(other))
	var u float64
	for _, v := range s {
		low, _ := slices.BinarySearch(sorted, v)
		high, _ := slices.BinarySearchFunc(sorted, v, func(at, v float64) int {
			if at <= v {
				return -1
			}
			return 1
		})
		u += float64(low) + float64(high-low)/2 // a tie is half a win
	}
	n, m := float64(len(s)), float64(len(other))
	return u / (n * m), (u - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
}
