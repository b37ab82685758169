package score

import (
	"maps"
	"slices"
)

// Features gives the names of all features.
func Features() []string { return slices.Sorted(maps.Keys(rows)) }

// Weight is what the table gives to a feature.
func Weight(name string) float64 { return rows[name].weight }

// Reweigh gives a feature another weight until undo is called.
func Reweigh(name string, weight float64) (undo func()) {
	f := rows[name]
	old := f.weight
	f.weight = weight
	return func() { f.weight = old }
}

// Scored is a candidate's value as it is to be pasted, and its score.
type Scored struct {
	Value string
	Score float64
}

// Scores gives the candidates of a mail that has been read, in its order. It may be called
// again after weights were changed.
func (p *Reading) Scores() []Scored {
	clear(p.found)
	p.found = p.found[:0]
	p.findCandidates()
	s := scoring{p: p, cs: p.found}
	s.run()
	var all []Scored
	for k := range s.cs {
		if c := &s.cs[k]; c.veto == "" {
			all = append(all, Scored{p.value(c), c.score})
		}
	}
	return all
}

// Threshold is the score at which a candidate may be the code.
const Threshold = threshold
