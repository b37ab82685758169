package catchall

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errLeaseLost means that another process may read the mailbox now.
var errLeaseLost = errors.New("the lease of the mailbox has ended, another process may read it")

// lease is the right of a reader to read the mailbox. It is renewed while it is used, also during a long command. A process that was
// suspended finds out before it stores or deletes anything that the lease has ended meanwhile, since it compares the time first. What it
// does in the instant after that comparison does no harm: messages are named by UID, a message that is stored twice is recognized, and
// only one that is stored is deleted.
type lease struct {
	reader *Reader
	mu     sync.Mutex
	until  time.Time // by the wall clock, which goes on while the process is suspended
}

// renew takes or renews the lease, and returns whether the reader has it.
func (l *lease) renew(ctx context.Context) (held bool, err error) {
	r := l.reader
	ctx, cancel := context.WithTimeout(ctx, renewIn)
	defer cancel()
	until := r.Clock.Now().Round(0).Add(leaseFor) // before the database computes its own
	if held, err = r.Ingress.Lease(ctx, r.Name, r.Holder, leaseFor); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.until = until; !held {
			l.until = time.Time{}
		}
	}
	return held, err
}

// check returns errLeaseLost unless the reader has the lease.
func (l *lease) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.reader.Clock.Now().Round(0).Before(l.until) {
		return errLeaseLost
	}
	return nil
}

// keep renews the lease until stop is called, and closes the connection when the lease is lost. A shutdown ends neither, so that the
// messages that are stored can be deleted.
func (l *lease) keep(ctx context.Context, c *connection) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var kept sync.WaitGroup
	kept.Go(func() {
		for l.reader.sleep(ctx, renewEvery); ctx.Err() == nil; l.reader.sleep(ctx, renewEvery) {
			_, _ = l.renew(ctx) // without the database the lease is kept until it ends
			if l.check() != nil {
				_ = c.raw.Close()
				return
			}
		}
	})
	return func() {
		cancel()
		kept.Wait()
	}
}

// release gives the lease back at a shutdown, so that another process need not wait for its end. It keeps it otherwise: after an error
// the same reader connects again.
func (l *lease) release(ctx context.Context) {
	if ctx.Err() != nil && l.check() == nil {
		r := l.reader
		_, _ = r.Ingress.Lease(context.WithoutCancel(ctx), r.Name, r.Holder, 0) // it ends by itself
	}
}
