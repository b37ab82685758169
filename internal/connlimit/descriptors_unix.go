//go:build unix

package connlimit

import (
	"errors"
	"math"
	"syscall"
)

// Descriptors returns the number of file descriptors that the process may have open (RLIMIT_NOFILE). It returns 0 if
// the number is unknown or unlimited.
func Descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 { //nolint:unconvert // Cur is signed on some systems
		return 0
	}
	return int(limit.Cur)
}

// outOfDescriptors reports whether err means that the process (EMFILE) or the system (ENFILE) has no file descriptor
// left.
func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
