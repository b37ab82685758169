package reserve

import (
	"errors"
	"os"
	"syscall"
)

// usage asks for the space of the file system that dir is on. What is kept for the superuser alone does not count as free.
func usage(dir string) (s space, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return s, err
	}
	return space{size: int64(fs.Blocks) * fs.Bsize, free: int64(fs.Bavail) * fs.Bsize}, nil
}

// allocate makes a file take size octets of disk.
func allocate(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return zeros(f, size)
	}
	return err
}
