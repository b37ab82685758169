package budget

import (
	"context"
	"fmt"
)

// Lease is a number of octets that a caller may use until it releases them. Its methods may be called by several
// goroutines, but only one at a time may wait. The lock of the budget guards its fields.
type Lease struct {
	budget   *Budget
	account  *account
	owner    string
	kind     Kind
	held     [parts]int64
	released bool
}

// Size returns the number of octets that the lease covers now.
func (l *Lease) Size() int64 {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	return l.size()
}

func (l *Lease) size() int64 {
	var sum int64
	for _, n := range l.held {
		sum += n
	}
	return sum
}

// Grow adds n octets to the lease if they are free, or returns ErrExhausted and leaves it as it is. It does not wait,
// and requests in the queue do not stop it: a holder that finishes frees memory for all of them.
func (l *Lease) Grow(n int64) error {
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	p := large
	if l.size()+n <= b.small {
		p = small
	}
	if l.released || n < 0 || !b.grant(l, p, n, true) {
		return ErrExhausted
	}
	return nil
}

// Expand waits, as Acquire does, until a small lease can have n octets more. A lease that is not small would wait for others while they
// wait for it; it gets ErrExhausted at once.
func (l *Lease) Expand(ctx context.Context, n int64) error {
	return l.await(ctx, large, n)
}

// Finish waits, as Acquire does, for n octets that the lease needs in addition until it is released, cut down to the
// part of the budget that only Finish uses. The caller must not wait for another lease afterwards. A lease may call it
// once.
func (l *Lease) Finish(ctx context.Context, n int64) error {
	return l.await(ctx, finish, n)
}

// await waits for n octets of a part, for a lease that may still wait.
func (l *Lease) await(ctx context.Context, p part, n int64) error {
	b := l.budget
	b.mu.Lock()
	if l.released || l.held[p] > 0 || l.held[finish] > 0 {
		b.mu.Unlock()
		return fmt.Errorf("%w: the lease may not wait for more", ErrExhausted)
	}
	w := b.request(l, p, n)
	b.mu.Unlock()
	return b.wait(ctx, w)
}

// Use makes the lease count as one of kind k from now on, for the metrics. A call on nil does nothing.
func (l *Lease) Use(k Kind) {
	if l == nil {
		return
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	n := l.size()
	l.budget.kinds[l.kind] -= n
	l.budget.kinds[k] += n
	l.kind = k
}

// Shrink gives n octets back, or all of them if the lease has fewer. Requests that fit now are granted.
func (l *Lease) Shrink(n int64) {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	l.shrink(n)
}

// Release gives everything back. Further calls do nothing, and neither does a call on nil.
func (l *Lease) Release() {
	if l == nil {
		return
	}
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.released {
		return
	}
	l.released = true
	l.shrink(l.size())
	if l.account.uses--; l.account.uses == 0 {
		delete(b.owners, l.owner)
	}
}

// shrink is Shrink under the lock.
func (l *Lease) shrink(n int64) {
	if n <= 0 {
		return
	}
	for p := parts - 1; ; p-- { // what was had to finish comes back first, since there is the least of it
		back := min(n, l.held[p])
		l.budget.add(l, p, -back)
		if n -= back; p == 0 {
			break
		}
	}
	l.budget.serve()
}
