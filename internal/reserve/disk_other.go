//go:build !linux

package reserve

import (
	"math"
	"os"
)

// usage does not know: a disk that is full is noticed by the errors of what is written.
func usage(string) (space, error) { return space{size: math.MaxInt64, free: math.MaxInt64}, nil }

func allocate(f *os.File, size int64) error { return zeros(f, size) }
