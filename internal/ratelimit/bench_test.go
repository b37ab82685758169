package ratelimit_test

import (
	"fmt"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

func BenchmarkTake(b *testing.B) {
	l, lim := ratelimit.New(clock.System()), limit(b, "300/1m")
	b.ReportAllocs()
	for b.Loop() {
		l.Take(ratelimit.Reads, "192.0.2.7", lim, 1)
	}
}

func BenchmarkTakeTwoWindows(b *testing.B) {
	l, lim := ratelimit.New(clock.System()), limit(b, "1000000/1s, 30000000/1m")
	b.ReportAllocs()
	for b.Loop() {
		l.Take(ratelimit.MailboxCreate, "192.0.2.7", lim, 1)
	}
}

func BenchmarkTakeManyIdentities(b *testing.B) {
	l, lim := ratelimit.New(clock.System()), limit(b, "300/1m")
	who := make([]string, 1<<17)
	for i := range who {
		who[i] = fmt.Sprint("2001:db8:", i, "::/64")
	}
	for _, identity := range who {
		l.Take(ratelimit.Reads, identity, lim, 1)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		l.Take(ratelimit.Reads, who[i&(1<<17-1)], lim, 1)
		i++
	}
}
