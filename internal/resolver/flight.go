package resolver

import "sync"

// flights are the queries under way. Identical questions share one.
type flights struct {
	limit int

	mu     sync.Mutex
	count  int
	shared map[question]*flight
}

type flight struct {
	done   chan struct{} // closed when answer is set
	answer answer
}

// join returns the query for q that is under way, or starts one with resolve. A fresh one is neither joined nor joinable.
// It returns nil when too many are under way.
func (fs *flights) join(q question, fresh bool, resolve func() answer) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.shared[q]; ok && !fresh {
		return f
	}
	if fs.count >= fs.limit {
		return nil
	}
	f := &flight{done: make(chan struct{})}
	fs.count++
	if !fresh {
		if fs.shared == nil {
			fs.shared = make(map[question]*flight)
		}
		fs.shared[q] = f
	}
	go func() {
		f.answer = resolve()
		fs.land(q, f)
		close(f.done)
	}()
	return f
}

func (fs *flights) land(q question, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.count--
	if fs.shared[q] == f {
		delete(fs.shared, q)
	}
}
