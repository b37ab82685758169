//go:build !linux

package raw

import (
	"errors"
	"os"
)

func datasync(f *os.File) error { return f.Sync() }

func setDirect(*os.File, bool) error { return errors.ErrUnsupported }
