package message

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

func TestTheNewestMessagesAreKept(t *testing.T) {
	now := time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)
	all := make([]aged, 10) // one a minute, the newest now
	for i := range all {
		all[i] = aged{at: now.Add(-time.Duration(i) * time.Minute).UnixMicro(), size: 100}
	}
	for name, c := range map[string]struct {
		kept Kept
		want int
	}{
		"all":    {Kept{Messages: 10, Octets: 1000, For: time.Hour}, 10},
		"number": {Kept{Messages: 4, Octets: 1000, For: time.Hour}, 4},
		"octets": {Kept{Messages: 10, Octets: 399, For: time.Hour}, 3},
		"age":    {Kept{Messages: 10, Octets: 1000, For: 5 * time.Minute}, 5},
		"none":   {Kept{Messages: 10, Octets: 99, For: time.Hour}, 0},
	} {
		if got := c.kept.newest(all, now); got != c.want {
			t.Errorf("%s: %d are kept, want %d", name, got, c.want)
		}
	}
}

// A client that sends more than its share pushes out its own messages. Neither the number of others nor the order matters.
func TestOneClientDoesNotPushOutOthers(t *testing.T) {
	now := time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)
	// mails returns messages of clients, the newest first, with a second between two.
	mails := func(sizes map[string]int64, clients ...string) (all []aged) {
		for i, client := range clients {
			at := now.Add(-time.Duration(i) * time.Second)
			all = append(all, aged{message: id.New[id.Message](at), at: at.UnixMicro(), size: max(1, sizes[client]), client: client})
		}
		return all
	}
	erasedOf := func(k Kept, all []aged) (n map[string]int) {
		n = make(map[string]int)
		for _, m := range k.excess(all, now) {
			n[m.client]++
		}
		return n
	}
	flood := append(slices.Repeat([]string{"flood"}, 50), "early", "early", "first")
	between := append(append([]string{"late"}, slices.Repeat([]string{"flood"}, 50)...), "first")
	for name, c := range map[string]struct {
		kept  Kept
		sizes map[string]int64
		all   []string
		want  map[string]int
	}{
		"as many as fit":         {Kept{Messages: 53, Octets: 1000, For: time.Hour}, nil, flood, map[string]int{}},
		"a flood behind others":  {Kept{Messages: 10, Octets: 1000, For: time.Hour}, nil, flood, map[string]int{"flood": 43}},
		"a flood between others": {Kept{Messages: 3, Octets: 1000, For: time.Hour}, nil, between, map[string]int{"flood": 49}},
		"few large ones":         {Kept{Messages: 100, Octets: 500, For: time.Hour}, map[string]int64{"large": 400}, []string{"large", "large", "small", "small", "small"}, map[string]int{"large": 1}},
		"too old, of any client": {Kept{Messages: 100, Octets: 1000, For: 3 * time.Second}, nil, []string{"a", "a", "b", "b", "c"}, map[string]int{"b": 1, "c": 1}},
		"equal shares":           {Kept{Messages: 2, Octets: 1000, For: time.Hour}, nil, []string{"a", "b", "c", "d"}, map[string]int{"c": 1, "d": 1}},
		"nothing fits":           {Kept{Messages: 2, Octets: 0, For: time.Hour}, nil, []string{"a", "b"}, map[string]int{"a": 1, "b": 1}},
	} {
		if got := erasedOf(c.kept, mails(c.sizes, c.all...)); !maps.Equal(got, c.want) {
			t.Errorf("%s: excess of %+v erases %v, want %v", name, c.kept, got, c.want)
		}
	}
}

// Of one client the newest are kept, as newest says.
func TestExcessOfOneClientIsTheOldest(t *testing.T) {
	now := time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)
	all := make([]aged, 20)
	for i := range all {
		at := now.Add(-time.Duration(i) * time.Minute)
		all[i] = aged{message: id.New[id.Message](at), at: at.UnixMicro(), size: int64(i%3 + 1)}
	}
	for _, k := range []Kept{{20, 100, time.Hour}, {7, 100, time.Hour}, {20, 9, time.Hour}, {20, 100, 5 * time.Minute}, {0, 100, time.Hour}, {3, 2, 2 * time.Minute}} {
		got, want := k.excess(all, now), len(all)-k.newest(all, now)
		slices.SortFunc(got, func(a, b aged) int { return cmp.Compare(b.message, a.message) })
		if !slices.Equal(got, all[len(all)-want:]) {
			t.Errorf("excess of %+v has %d messages, want the %d oldest", k, len(got), want)
		}
	}
}
