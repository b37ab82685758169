package message

import (
	"testing"
	"time"
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
