package job

import "sync/atomic"

// lastError holds the error of the last run of an operation; it is nil after a success and before the first run. One
// goroutine stores it, and others, which serve /readyz, load it.
type lastError struct{ last atomic.Pointer[error] }

func (b *lastError) store(err error) { b.last.Store(&err) }

func (b *lastError) load() error {
	if err := b.last.Load(); err != nil {
		return *err
	}
	return nil
}
