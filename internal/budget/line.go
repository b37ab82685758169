package budget

import "slices"

// waiter is a request in the queue.
type waiter struct {
	lease   *Lease
	part    part
	n       int64
	granted chan struct{} // closed when the lease has the octets
}

// line is the queue of a part: the requests of one owner are served in order of arrival, and the owners in turn. The
// lock of the budget guards it.
type line struct{ owners []*queue }

// queue is the requests of one owner.
type queue struct {
	account *account
	waiting []*waiter
}

func (l *line) empty() bool { return len(l.owners) == 0 }

func (l *line) add(w *waiter) {
	for _, q := range l.owners {
		if q.account == w.lease.account {
			q.waiting = append(q.waiting, w)
			return
		}
	}
	l.owners = append(l.owners, &queue{account: w.lease.account, waiting: []*waiter{w}})
}

func (l *line) remove(w *waiter) {
	for i, q := range l.owners {
		if q.account != w.lease.account {
			continue
		}
		q.waiting = slices.DeleteFunc(q.waiting, func(other *waiter) bool { return other == w })
		if len(q.waiting) == 0 {
			l.owners = slices.Delete(l.owners, i, i+1)
		}
		return
	}
}

// serve grants what can be granted, in order. An owner whose next request exceeds its own share is skipped. A request
// that is within the share and does not fit stops those behind it, so that a large one gets its turn; small ones then
// have only the reserve. The caller holds the lock.
func (b *Budget) serve() {
	stopped := b.lines[large].serve(func(w *waiter) verdict { return b.try(w, true) })
	b.lines[small].serve(func(w *waiter) verdict { return b.try(w, !stopped) })
	b.lines[finish].serve(func(w *waiter) verdict { return b.try(w, true) })
}

// verdict is the result of trying to grant a request.
type verdict uint8

const (
	passed  verdict = iota // the owner has its share
	granted                // the lease has the octets
	stops                  // the part has too little
)

// try tries to grant a request that is in the queue.
func (b *Budget) try(w *waiter, general bool) verdict {
	last := w.part
	if last == small {
		last = reserve
	}
	switch {
	case b.grant(w.lease, w.part, w.n, general):
		close(w.granted)
		return granted
	case b.within(w.lease, last, w.n):
		return stops
	default:
		return passed
	}
}

// serve tries the first request of each owner, and those behind it when the owner's turn comes round again. It reports whether a request
// stopped it.
func (l *line) serve(try func(*waiter) verdict) (stopped bool) {
	for i := 0; i < len(l.owners); {
		q := l.owners[i]
		switch try(q.waiting[0]) {
		case stops:
			return true
		case passed:
			i++
			continue
		}
		l.owners = slices.Delete(l.owners, i, i+1)
		if q.waiting = q.waiting[1:]; len(q.waiting) > 0 {
			l.owners = append(l.owners, q)
		}
	}
	return false
}
