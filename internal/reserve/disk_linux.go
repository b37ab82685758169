package reserve

import (
	"errors"
	"os"
	"syscall"
)

// usage returns the space of the file system that dir is on. What only the superuser may use does not count as free.
func usage(dir string) (s space, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return s, err
	}
	return space{size: int64(fs.Blocks) * fs.Bsize, free: int64(fs.Bavail) * fs.Bsize}, nil
}

// allocate makes a file take size octets of disk, not only of length: a sparse file would reserve nothing.
func allocate(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return zeros(f, size)
	}
	return err
}
