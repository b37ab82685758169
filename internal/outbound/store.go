package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/raw"
)

const (
	// chunkSize is the octets of content in a row, and in a transaction that stores one.
	chunkSize = 256 << 10
	// StoreMemory is about how many octets of memory Store takes.
	StoreMemory = 3 * chunkSize

	accountMails  = 100       // that wait of one account
	accountOctets = 256 << 20 // that they have
	totalOctets   = 4 << 30   // that all mail has that waits

	// strayAfter is how old content without its mail must be before it is swept: Store has long given up then.
	strayAfter = time.Hour
	// forgetAfter is how long after its end mail is swept that was not given up by a last try, which says so in the delivery log: there
	// is no relay any more, or the service was off at that time.
	forgetAfter = 24 * time.Hour
	sweepBatch  = 64
)

// EnqueueTx stores a whole mail, which is sent if and only if the transaction commits.
func (s *Service) EnqueueTx(ctx context.Context, tx *db.Tx, m Mail, content []byte) error {
	return s.enqueueTx(ctx, tx, s.row(m), content, int64(len(content)))
}

// row returns the row of a mail that is stored now.
func (s *Service) row(m Mail) *outgoing {
	now := s.Clock.Now().Truncate(time.Microsecond)
	if m.For <= 0 || m.For > s.Policy.KeepFor {
		m.For = s.Policy.KeepFor
	}
	return &outgoing{Mail: m, id: id.New[id.Outgoing](now), createdAt: now, expiresAt: now.Add(m.For)}
}

// enqueueTx stores a mail of size octets, of which head are the first, and its job.
func (s *Service) enqueueTx(ctx context.Context, tx *db.Tx, o *outgoing, head []byte, size int64) error {
	o.head, o.size = s.sealer.Seal(head, string(o.id)), size
	if err := insertTx(ctx, tx, o); err != nil {
		return err
	}
	return s.queue.EnqueueTx(ctx, tx, job.New{Lane: string(o.Account), Payload: string(o.id)})
}

// Store stores a mail that begins with head and goes on with what next returns, until that is io.EOF. It holds StoreMemory at
// most, whatever the size. The number and the size of the mails that wait are bounded, for each account and in total, so that a
// relay that is down does not fill the disk. Errors: rate.limited, server.unavailable and those of next.
func (s *Service) Store(ctx context.Context, m Mail, head []byte, next func(context.Context) ([]byte, error)) error {
	if err := s.checkRoom(ctx, m.Account); err != nil {
		return err
	}
	o := s.row(m)
	size, err := s.storeContent(ctx, o.id, next)
	if err == nil {
		err = s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			return s.enqueueTx(ctx, tx, o, head, size+int64(len(head)))
		})
	}
	if err != nil {
		return errors.Join(err, s.DB.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error { return deleteTx(ctx, tx, o.id) }))
	}
	return nil
}

// checkRoom checks that another mail of an account may wait. It does not lock: calls at once may exceed a bound by a few mails.
func (s *Service) checkRoom(ctx context.Context, account id.Account) error {
	mails, octets, err := waiting(ctx, s.DB, account)
	if err != nil {
		return err
	}
	total, err := totalWaiting(ctx, s.DB)
	switch {
	case err != nil:
		return err
	case mails >= accountMails || octets >= accountOctets:
		p := problem.Detailf(problem.RateLimited, "%d mails of this account wait for the relay; try again when some of them have been sent", mails)
		p.RetryAfter = s.Policy.Retries[0]
		return p
	case total >= totalOctets:
		return problem.Detailf(problem.ServerUnavailable, "too much mail waits for the relay; try again later")
	}
	return nil
}

// storeContent stores the content of a mail, a chunk in each transaction, and returns its size.
func (s *Service) storeContent(ctx context.Context, mail id.Outgoing, next func(context.Context) ([]byte, error)) (size int64, err error) {
	buf := make([]byte, 0, chunkSize)
	number := 0
	flush := func() error {
		if len(buf) == 0 {
			return nil
		}
		data := raw.Compress(nil, buf)
		err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return insertChunkTx(ctx, tx, mail, number, data) })
		size += int64(len(buf))
		number, buf = number+1, buf[:0]
		return err
	}
	for {
		octets, err := next(ctx)
		if errors.Is(err, io.EOF) {
			return size + int64(len(buf)), flush()
		}
		if err != nil {
			return 0, err
		}
		for len(octets) > 0 {
			n := min(len(octets), chunkSize-len(buf))
			buf, octets = append(buf, octets[:n]...), octets[n:]
			if len(buf) == chunkSize {
				if err := flush(); err != nil {
					return 0, err
				}
			}
		}
	}
}

// ForgetTx deletes the mail of an account that waits, whether or not there is a relay. A try in progress may still send its mail.
func ForgetTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	return forgetTx(ctx, tx, account)
}

// Sweep deletes content whose mail was never stored, since its process died, and mail that ended long ago, since there is no relay
// any more. A periodic job calls it.
func Sweep(ctx context.Context, d *db.DB, now time.Time) error {
	stray, old := id.Last[id.Outgoing](now.Add(-strayAfter)), now.Add(-forgetAfter).UnixMicro()
	for n := int64(sweepBatch); n >= sweepBatch; {
		err := d.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = sweepTx(ctx, tx, stray, old)
			return err
		})
		if err != nil {
			return fmt.Errorf("sweep outgoing mail: %w", err)
		}
	}
	return nil
}
