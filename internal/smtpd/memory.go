package smtpd

import (
	"context"

	"github.com/gonebox/gonebox/internal/budget"
)

// firstLease is the memory that is acquired for a message of unknown or small size: what a message of some 8 KiB takes from its first octet
// to its reply, so that most messages ask the budget once.
const firstLease = 128 << 10

// content is the octets of a message as they come in, and the lease on memory that covers them.
type content struct {
	*buffer
	lease *budget.Lease
}

// begin acquires memory for a message of size octets, which is 0 where it is not known, and lends a buffer. If the memory is not free it
// waits; the client has been told nothing yet that would let it send. It fails with budget.ErrExhausted.
func (s *session) begin(size int64) (content, error) {
	n := max(firstLease, bufferFor(size))
	lease := s.srv.cfg.Memory.TryAcquire(budget.Mail, s.owner, n)
	if lease == nil {
		err := s.await(func(ctx context.Context) (err error) {
			lease, err = s.srv.cfg.Memory.Acquire(ctx, budget.Mail, s.owner, n)
			return err
		})
		if err != nil {
			return content{}, err
		}
	}
	return content{s.srv.buffers.get(bufferFor(size)), lease}, nil
}

// end gives buffer and memory back. It may be called on the zero content.
func (s *session) end(c content) {
	if c.buffer != nil {
		s.srv.buffers.put(c.buffer)
	}
	c.lease.Release()
}

// grow makes sure that there is room for one more read.
func (s *session) grow(c content) error {
	old := int64(cap(c.b))
	if old-int64(len(c.b)) >= roomToRead {
		return nil
	}
	size, err := s.leaseGrowth(c, old)
	if err != nil {
		return err
	}
	s.srv.buffers.move(c.buffer, size)
	c.lease.Shrink(c.lease.Size() - max(size, firstLease))
	return nil
}

// leaseGrowth acquires the memory for a buffer that replaces one of old octets, and returns its size. A message that turns out to be large
// waits once, for all that it can become, since it could not wait again: what it holds while it waits is so little that others can go on.
// One that is larger than its sender declared does not wait.
func (s *session) leaseGrowth(c content, old int64) (size int64, err error) {
	most, small := bufferFor(s.srv.cfg.MaxSize), s.srv.cfg.Memory.Small()
	size = min(nextSize(old), most)
	held, needed := c.lease.Size(), old+size // both are in use while the octets are copied
	waits := held <= small
	if needed <= held || (needed <= small || !waits) && c.lease.Grow(needed-held) == nil {
		return size, nil
	}
	if !waits {
		return 0, budget.ErrExhausted
	}
	return most, s.await(func(ctx context.Context) error { return c.lease.Expand(ctx, old+most-held) })
}

// drop gives up what came in of a message that cannot be kept, so that others can have its memory while the rest is read.
func (s *session) drop(c content, rest []byte) {
	small := s.srv.buffers.get(0)
	small.b = append(small.b, rest...)
	*c.buffer, *small = *small, *c.buffer
	s.srv.buffers.put(small)
	c.lease.Shrink(c.lease.Size() - firstLease)
}

// cover makes sure that the lease covers n octets in all, which the message needs to be delivered.
func (s *session) cover(c content, n int64) error {
	missing := n - c.lease.Size()
	if missing <= 0 || c.lease.Grow(missing) == nil {
		return nil
	}
	return s.await(func(ctx context.Context) error { return c.lease.Finish(ctx, missing) })
}

// await waits for memory. Meanwhile nothing is read, so that TCP makes the client wait as well.
func (s *session) await(acquire func(context.Context) error) error {
	if err := s.wire.flush(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.srv.base, s.srv.cfg.Timeouts.Memory)
	defer cancel()
	return acquire(ctx)
}
