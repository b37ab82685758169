//go:build !linux

package original

import "os"

func datasync(f *os.File) error { return f.Sync() }
