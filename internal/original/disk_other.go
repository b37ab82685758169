//go:build !linux

package original

import (
	"errors"
	"os"
)

func datasync(f *os.File) error { return f.Sync() }

func setDirect(*os.File, bool) error { return errors.ErrUnsupported }
