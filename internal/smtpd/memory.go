package smtpd

import (
	"bytes"
	"context"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/buffer"
)

// firstLease is the memory in octets that is acquired for a message of unknown or small size. It suffices to receive and deliver a message
// of some 8 KiB, so that most messages acquire memory only once.
const firstLease = 128 << 10

// content holds the octets of a message while they arrive, and the lease on the memory that it uses. It belongs to the
// session's goroutine, which must call release.
type content struct {
	buf   *[]byte
	lease *budget.Lease
}

// octets returns what has arrived. The slice is valid until the content grows or is released.
func (c *content) octets() []byte { return *c.buf }

// len returns how many octets have arrived; 0 for nil.
func (c *content) len() int64 {
	if c == nil {
		return 0
	}
	return int64(len(*c.buf))
}

// free returns the unused part of the buffer, for a read.
func (c *content) free() []byte { return (*c.buf)[len(*c.buf):cap(*c.buf)] }

// extend adds n octets that were read into free.
func (c *content) extend(n int) { *c.buf = (*c.buf)[:len(*c.buf)+n] }

// newContent acquires memory for a message of size octets, 0 if the size is not known. If the memory is not free it
// waits; no reply has been sent yet that would let the client send the message. It fails with budget.ErrExhausted
// after Timeouts.Memory.
func (s *session) newContent(size int64) (*content, error) {
	n := max(firstLease, bufferFor(size))
	lease := s.srv.cfg.Memory.TryAcquire(budget.Mail, s.owner, n)
	if lease == nil {
		err := s.awaitMemory(func(ctx context.Context) (err error) {
			lease, err = s.srv.cfg.Memory.Acquire(ctx, budget.Mail, s.owner, n)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return &content{buffer.Get(int(bufferFor(size))), lease}, nil
}

// release returns the buffer and the memory. It may be called on nil. The content must not be used any more.
func (c *content) release() {
	if c == nil {
		return
	}
	buffer.Put(c.buf)
	c.lease.Release()
}

// grow makes the buffer large enough for one more read. It fails with budget.ErrExhausted.
func (s *session) grow(c *content) error {
	old := int64(cap(*c.buf))
	if old-c.len() >= minReadSize {
		return nil
	}
	size, err := s.leaseGrowth(c, old)
	if err != nil {
		return err
	}
	c.buf = replaceBuffer(c.buf, size)
	c.lease.Shrink(c.lease.Size() - max(size, firstLease))
	return nil
}

// leaseGrowth acquires the memory for a buffer that replaces one of old octets, and returns its size. A message that
// turns out to be large waits once, for the largest buffer that it can need, since it could not wait again without a
// deadlock: sessions that hold much would wait for each other. While it waits it holds so little that others can go
// on. A message that already holds more, because it is larger than its sender declared, does not wait.
func (s *session) leaseGrowth(c *content, old int64) (size int64, err error) {
	most, small := bufferFor(s.srv.cfg.MaxSize), s.srv.cfg.Memory.Small()
	size = min(grownSize(old), most)
	held, needed := c.lease.Size(), old+size // both buffers exist while the octets are copied
	mayWait := held <= small
	if needed <= held || (needed <= small || !mayWait) && c.lease.Grow(needed-held) == nil {
		return size, nil
	}
	if !mayWait {
		return 0, budget.ErrExhausted
	}
	return most, s.awaitMemory(func(ctx context.Context) error { return c.lease.Expand(ctx, old+most-held) })
}

// shrink replaces the buffer of a message that cannot be kept by a small one that holds only rest, so that others can use the memory
// while the remaining octets are read and discarded.
func (c *content) shrink(rest []byte) {
	small := buffer.Get(minContent)
	*small = append(*small, rest...)
	buffer.Put(c.buf)
	c.buf = small
	c.lease.Shrink(c.lease.Size() - firstLease)
}

// endLinesInCRLF makes all lines end in CRLF, after which the message has size octets. The lease must cover a second buffer of that size.
func (c *content) endLinesInCRLF(size int64) {
	with := buffer.Get(int(bufferFor(size)))
	for line := range bytes.Lines(c.octets()) {
		text, isLine := bytes.CutSuffix(line, []byte("\n"))
		*with = append(*with, bytes.TrimSuffix(text, []byte("\r"))...)
		if isLine {
			*with = append(*with, "\r\n"...)
		}
	}
	buffer.Put(c.buf)
	c.buf = with
}

// leaseForDelivery grows the lease to n octets in all, which delivering the message needs. It may wait (budget.Lease.Finish).
func (s *session) leaseForDelivery(c *content, n int64) error {
	missing := n - c.lease.Size()
	if missing <= 0 || c.lease.Grow(missing) == nil {
		return nil
	}
	return s.awaitMemory(func(ctx context.Context) error { return c.lease.Finish(ctx, missing) })
}

// awaitMemory sends the pending replies and then calls acquire, with a context that ends after Timeouts.Memory. The session does not read
// meanwhile, so that TCP makes the client wait as well.
func (s *session) awaitMemory(acquire func(context.Context) error) error {
	if err := s.wire.flush(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.srv.base, s.srv.cfg.Timeouts.Memory)
	defer cancel()
	return acquire(ctx)
}
