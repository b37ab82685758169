//go:build !linux

package db

import (
	"syscall"
	"time"
)

// setUserTimeout does nothing. Keepalives detect a dead connection that is idle, and the monitor detects all others.
func setUserTimeout(string, syscall.RawConn, time.Duration) error { return nil }
