package doctor

import "syscall"

// freeSpace returns the free octets of the file system that a folder is on.
func freeSpace(dir string) (free int64, ok bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}

// kernelClock reports whether the kernel says that the clock is synchronized; known is false where it does not say.
func kernelClock() (synchronized, known bool) {
	const unsynchronized = 5 // TIME_ERROR of adjtimex(2)
	var t syscall.Timex
	state, err := syscall.Adjtimex(&t)
	return state != unsynchronized, err == nil
}
