package otp

import "testing"

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if x := build(); x == nil {
			b.Fatal("no lexicon")
		}
	}
}
