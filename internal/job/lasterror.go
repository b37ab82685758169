package job

import "sync/atomic"

// lastError holds the last error of an operation, nil after a success or before the first one. One goroutine stores
// while others, which answer /readyz, load.
type lastError struct{ last atomic.Pointer[error] }

func (b *lastError) store(err error) { b.last.Store(&err) }

func (b *lastError) load() error {
	if err := b.last.Load(); err != nil {
		return *err
	}
	return nil
}
