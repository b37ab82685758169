package original

import (
	"errors"
	"os"
	"syscall"
)

// datasync leaves out what is not needed to read the data back, such as the time of change.
func datasync(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = syscall.Fdatasync(int(fd)); !errors.Is(failed, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, failed)
}
