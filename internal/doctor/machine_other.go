//go:build !linux

package doctor

func freeSpace(string) (free int64, ok bool) { return 0, false }

func kernelClock() (synchronized, known bool) { return false, false }
