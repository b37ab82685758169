package app

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// running is the file of the running program on Linux, also after another has taken its place.
const running = "/proc/self/exe"

// newProgram returns a function that returns a number that only this program has, computed from its file: programs that differ in anything
// have different numbers. It is 0 until the file has been read, which begins with the first call, and on systems without such a file.
func newProgram(file string) func() int64 {
	var number atomic.Int64
	var first sync.Once
	return func() int64 {
		first.Do(func() { go func() { number.Store(fingerprint(file)) }() })
		return number.Load()
	}
}

// fingerprint returns a number that is computed from a file, or 0 if it cannot be read.
func fingerprint(file string) int64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(sum.Sum(nil)))
}
