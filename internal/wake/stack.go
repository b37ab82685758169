package wake

import "context"

// Stacks bounds the concurrent reads of waiting calls that run on goroutines of their own.
type Stacks struct{ free chan struct{} }

// stacksMax is more than the database runs at once, and few enough that thousands of calls that are woken together do not all
// have such a goroutine.
const stacksMax = 32

// NewStacks returns Stacks for the waiting calls of one kind.
func NewStacks() Stacks { return Stacks{make(chan struct{}, stacksMax)} }

// OnFreshStack runs a read on a goroutine of its own. A database read needs a stack several times that of a waiting call, and a
// parked goroutine keeps its grown stack, which would multiply the memory of ten thousand waiting calls. A panic of read is
// passed on. Error: that of read, or ctx.Err() where ctx ends before it begins.
func OnFreshStack[T any](ctx context.Context, s Stacks, read func() (T, bool, error)) (value T, done bool, err error) {
	select {
	case s.free <- struct{}{}:
		defer func() { <-s.free }()
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
	var fault any
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { fault = recover() }()
		value, done, err = read()
	}()
	<-ended
	if fault != nil {
		panic(fault) // so that the handler of the call recovers it
	}
	return value, done, err
}
