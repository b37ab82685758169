//go:build unix

package raw

import (
	"errors"
	"os"
	"syscall"
)

// lockExclusively locks a file until it is closed, or returns ErrLocked if it is locked already.
func lockExclusively(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
