package job

import "sync/atomic"

// faultBox holds the last error of an operation, nil after a success or before the first one. One goroutine stores
// while others, which answer /readyz, load.
type faultBox struct{ last atomic.Pointer[error] }

func (b *faultBox) store(err error) { b.last.Store(&err) }

func (b *faultBox) load() error {
	if err := b.last.Load(); err != nil {
		return *err
	}
	return nil
}
