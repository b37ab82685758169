//go:build !linux

package db

import "os"

func nextData(_ *os.File, from int64) int64 { return from }

// punchHole does nothing: free pages keep their disk space.
func punchHole(*os.File, int64, int64) error { return nil }

// allocate does nothing: a file takes disk space when it is written.
func allocate(*os.File, int64) error { return nil }
