package allmail

import (
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// An account that had to wait until its index was loaded keeps it for longer than those that asked later, and were loaded before. One that
// still waits is not dropped, which would free nothing.
func TestIndexesAreDroppedInTheOrderOfTheirLoading(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	s := newIndexes()
	var all []*index
	for i := range 4 {
		x := s.get(id.Account(rune('a'+i)), at.Add(time.Duration(i)*time.Second))
		x.octets = 100
		all = append(all, x)
	}
	waiting, late, early, grown := all[0], all[1], all[2], all[3]
	waiting.octets = 0
	s.touch(late, at.Add(time.Minute))
	if got := s.drop(grown, 200); !slices.Equal(got, []*index{early}) {
		t.Errorf("drop with room for two of three indexes: %d indexes, want the one of %s", len(got), early.account)
	}
	if got := s.drop(grown, 100); !slices.Equal(got, []*index{late}) {
		t.Errorf("drop with room for one of two indexes: %d indexes, want the one of %s", len(got), late.account)
	}
	if got := s.get(waiting.account, at); got != waiting {
		t.Errorf("get of %s: another index, want the one that waits to be loaded", waiting.account)
	}
}
