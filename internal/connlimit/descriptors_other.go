//go:build !unix

package connlimit

// Descriptors returns 0, for unknown: the number of handles of a process is not limited as descriptors are.
func Descriptors() int { return 0 }

// outOfDescriptors returns false.
func outOfDescriptors(error) bool { return false }
