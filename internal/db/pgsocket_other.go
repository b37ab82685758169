//go:build !linux

package db

import (
	"syscall"
	"time"
)

// setUserTimeout has nothing to set here: keepalives find a dead connection that is idle, and the monitor any other.
func setUserTimeout(string, syscall.RawConn, time.Duration) error { return nil }
