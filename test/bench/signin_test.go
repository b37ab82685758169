package main

import (
	"math"
	"testing"
	"time"
)

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		a, b     series
		above, z float64
	}{
		{series{1, 2, 3}, series{4, 5, 6}, 0, -1.964},
		{series{4, 5, 6}, series{1, 2, 3}, 1, 1.964},
		{series{1, 3, 5}, series{2, 3, 4}, 0.5, 0},
		{series{2, 2}, series{2, 2, 2}, 0.5, 0},
		{series{7, 3, 9}, series{8, 1}, 4. / 6, 0.577},
	} {
		above, z := c.a.ranked(c.b)
		if math.Abs(above-c.above) > 0.001 || math.Abs(z-c.z) > 0.001 {
			t.Errorf("%v against %v: %v, %v, want %v, %v", c.a, c.b, above, z, c.above, c.z)
		}
	}
}

func TestShiftIsInPooledMADs(t *testing.T) {
	a, b := series{10, 12, 14, 16, 18}, series{1, 3, 5, 7, 9}
	if a.mad() != 2 || a.shift(b) != 4.5 || b.shift(a) != -4.5 {
		t.Errorf("MAD %v, shift %v and %v", a.mad(), a.shift(b), b.shift(a))
	}
}

// RFC 6238 Appendix B, cut to six digits.
func TestTOTP(t *testing.T) {
	for at, code := range map[int64]string{59: "287082", 1111111109: "081804", 2000000000: "279037"} {
		if got := totp([]byte("12345678901234567890"), time.Unix(at, 0)); got != code {
			t.Errorf("%d: %s, want %s", at, got, code)
		}
	}
}
