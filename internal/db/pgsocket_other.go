//go:build !linux

package db

import (
	"syscall"
	"time"
)

// setUserTimeout does nothing: keepalives detect a dead connection that is idle, and the monitor any other.
func setUserTimeout(string, syscall.RawConn, time.Duration) error { return nil }
