package job

import "sync/atomic"

// faultBox keeps how the last round went.
type faultBox struct{ last atomic.Pointer[error] }

func (b *faultBox) store(err error) { b.last.Store(&err) }

func (b *faultBox) load() error {
	if err := b.last.Load(); err != nil {
		return *err
	}
	return nil
}
