package raw

import (
	"errors"
	"os"
	"syscall"
)

// setDirect turns direct I/O for later writes on or off: with it, data goes to the disk without a copy in the page cache
// (open(2), O_DIRECT). Writing and syncing 448 KiB takes 150 µs of CPU time instead of 270, and 32 KiB 120 instead of 135
// (BenchmarkDirect, docs/decisions/0027). It fails if the file system cannot do it.
func setDirect(f *os.File, on bool) error {
	return withDescriptor(f, func(fd uintptr) error {
		flags, _, failed := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
		if failed != 0 {
			return failed
		}
		flags &^= syscall.O_DIRECT
		if on {
			flags |= syscall.O_DIRECT
		}
		if _, _, failed = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETFL, flags); failed != 0 {
			return failed
		}
		return nil
	})
}

// datasync makes the data of a file durable with fdatasync(2), which leaves out metadata that is not needed to read the
// data back, such as the modification time.
func datasync(f *os.File) error {
	return withDescriptor(f, func(fd uintptr) error {
		for {
			if err := syscall.Fdatasync(int(fd)); !errors.Is(err, syscall.EINTR) {
				return err
			}
		}
	})
}

// withDescriptor calls a function with the file's descriptor, which stays open meanwhile. os.File.Fd would make the file
// blocking.
func withDescriptor(f *os.File, call func(fd uintptr) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = call(fd) })
	return errors.Join(err, failed)
}
