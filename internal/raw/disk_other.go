//go:build !linux

package raw

import (
	"errors"
	"os"
)

// datasync makes the data of a file durable.
func datasync(f *os.File) error { return f.Sync() }

// setDirect is not supported: files are written through the system's cache.
func setDirect(*os.File, bool) error { return errors.ErrUnsupported }
