// Package exampletest gives examples and TestMain a testing.TB, which the testing package gives to tests alone.
package exampletest

import (
	"log"
	"os"
	"slices"
	"testing"
)

// T is a testing.TB that belongs to the whole run of a test binary. It has the methods that package goneboxtest calls; the
// others panic. The zero value is ready for use by one goroutine.
type T struct {
	testing.TB // nil: it has an unexported method, so that no other type could be a testing.TB
	cleanups   []func()
}

// Helper does nothing.
func (t *T) Helper() {}

// Cleanup has End call f.
func (t *T) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// TempDir returns a new folder, which End removes.
func (t *T) TempDir() string {
	dir, err := os.MkdirTemp("", "gonebox-example-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Fatal logs its arguments, cleans up and ends the process.
func (t *T) Fatal(args ...any) {
	t.End()
	log.Fatal(args...)
}

// Fatalf is Fatal with a format.
func (t *T) Fatalf(format string, args ...any) {
	t.End()
	log.Fatalf(format, args...)
}

// End calls the functions that Cleanup was given, the last one first.
func (t *T) End() {
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
	t.cleanups = nil
}
