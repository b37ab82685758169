// Package catchall reads a mailbox elsewhere by IMAP (RFC 9051) into which all mail of a domain arrives, and hands each message to an
// ingress (docs/spec/ingress.md#a-mailbox-elsewhere). A message is deleted or moved only once it is stored, or refused for good: a process
// that is killed in between reads it again, and the ingress knows that it is stored.
//
// Reader.Run connects, stores what is there, and waits for more with IDLE (RFC 2177). It connects again after an error, and finds out by
// itself that a connection is dead. Of several processes one reads, under a lease (lease.go).
package catchall

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ingress"
)

// Config is the mailbox.
type Config struct {
	Name     string // of the ingress
	URL      string // imaps://host:port, or imap://host:port without TLS
	User     string
	Password string
	Folder   string
	MoveTo   string // the folder for what is done with; "": it is deleted
}

// Ingress stores messages.
type Ingress interface {
	Take(ctx context.Context, name string, m ingress.Mail, lease *budget.Lease) ingress.Outcome
	Fail(name, reason string)
	Lease(ctx context.Context, name, holder string, d time.Duration) (bool, error) // a d of 0 gives it back
}

// Parts are the dependencies of a Reader.
type Parts struct {
	Ingress Ingress
	Clock   clock.Clock
	Logger  *slog.Logger
	Memory  *budget.Budget
	Cost    func(size int64) int64                         // what delivering a message of that size takes
	MaxSize int64                                          // octets of a message; a larger one is not read
	Served  func(ctx context.Context, address string) bool // reports whether mail for an address is taken here
	Holder  string                                         // identifies the process, or all that can follow each other on one database
}

// Reader reads one mailbox. Run may be called once.
type Reader struct {
	Config
	Parts
	later    map[imap.UID]time.Time // when to try again to store a message that was deferred
	validity uint32                 // with which the UIDs of later are unique
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// New returns a Reader. It does not connect.
func New(c Config, p Parts) *Reader {
	return &Reader{Config: c, Parts: p, later: map[imap.UID]time.Time{}, dial: new(net.Dialer).DialContext}
}

const (
	leaseFor     = 24 * time.Second
	renewEvery   = leaseFor / 3
	renewIn      = leaseFor / 6     // time for the database to renew the lease: two renewals may fail
	standbyFor   = 2 * time.Second  // between two tries to take the lease while another process has it
	idleFor      = 10 * time.Second // how long IDLE lasts, after which the connection has proven that it works
	answerIn     = 20 * time.Second // how long the server may be silent before it answers a command, or in the middle of a message
	finishIn     = 30 * time.Second // how long it may be silent while it deletes or moves messages
	answerMost   = 1 << 20          // octets of an answer that is no list of messages and has none in it
	searchMost   = 16 << 20         // octets of a list of messages
	messagesMost = 1_000_000        // messages that are looked at in one go
	commandMost  = time.Hour        // how long a command may take whose answer does come, such as a large message on a slow line
	memoryIn     = time.Minute      // time to wait for memory
	pauseFirst   = time.Second      // before it connects again
	pauseMost    = 15 * time.Second
	againAfter   = 30 * time.Second // when a message that was deferred is tried again
	strayAfter   = time.Hour        // when a message without a recipient is looked at again
	workers      = 4                // messages that are read and stored at once
	finishAfter  = 64               // messages that are deleted or moved together
)

// Run reads the mailbox until ctx ends.
func (r *Reader) Run(ctx context.Context) {
	pause := pauseFirst
	for ctx.Err() == nil {
		worked, err := r.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if worked {
			pause = pauseFirst
		}
		if err == nil { // another process reads the mailbox
			r.sleep(ctx, standbyFor)
			continue
		}
		r.Logger.WarnContext(ctx, "reading the mailbox of an ingress failed, connecting again", "ingress", r.Name, "error", err, "pause", pause.String())
		r.Ingress.Fail(r.Name, err.Error())
		r.sleep(ctx, pause)
		pause = min(2*pause, pauseMost)
	}
}

// session takes the lease, connects and reads until an error. worked reports whether the mailbox could be opened.
func (r *Reader) session(ctx context.Context) (worked bool, err error) {
	l := &lease{reader: r}
	if held, err := l.renew(ctx); err != nil || !held {
		return false, err
	}
	defer l.release(ctx)
	c, err := r.connect(ctx)
	if err != nil {
		return false, err
	}
	defer c.close()
	if held, err := l.renew(ctx); err != nil || !held { // connecting may have taken longer than the lease
		return false, err
	}
	defer l.keep(ctx, c)()
	if c.validity != r.validity { // the UIDs are those of other messages
		clear(r.later)
		r.validity = c.validity
	}
	for err == nil && ctx.Err() == nil {
		if err = r.readAll(ctx, c, l); err == nil {
			err = c.wait(ctx, r.Clock)
		}
	}
	if lost := l.check(); lost != nil {
		err = lost // why the connection was closed
	}
	return true, err
}

// readAll stores the messages that are there.
func (r *Reader) readAll(ctx context.Context, c *connection, l *lease) error {
	uids, err := c.search()
	if err != nil {
		return err
	}
	now := r.Clock.Now()
	var due []imap.UID
	for _, uid := range uids {
		if !r.later[uid].After(now) {
			due = append(due, uid)
		}
	}
	for len(due) > 0 && ctx.Err() == nil {
		n := min(len(due), finishAfter)
		done, err := r.read(ctx, c, l, due[:n])
		if lost := l.check(); lost != nil {
			return lost
		}
		if len(done) > 0 { // also after an error: these are stored
			err = errors.Join(err, c.finish(done, r.MoveTo))
		}
		if err != nil {
			return err
		}
		due = due[n:]
	}
	return nil
}

// read reads and stores messages, several at once, and returns those that are done with.
func (r *Reader) read(ctx context.Context, c *connection, l *lease, uids []imap.UID) (done []imap.UID, err error) {
	next := make(chan imap.UID)
	var mu sync.Mutex // guards done, err and r.later
	var reading sync.WaitGroup
	for range min(workers, len(uids)) {
		reading.Go(func() {
			for uid := range next {
				again, failed := r.store(ctx, c, l, uid)
				mu.Lock()
				switch {
				case failed != nil:
					err = errors.Join(err, failed)
				case again > 0:
					r.later[uid] = r.Clock.Now().Add(again)
				default:
					delete(r.later, uid)
					done = append(done, uid)
				}
				mu.Unlock()
			}
		})
	}
	for _, uid := range uids {
		mu.Lock()
		failed := err != nil
		mu.Unlock()
		if failed || ctx.Err() != nil {
			break
		}
		next <- uid
	}
	close(next)
	reading.Wait()
	return done, err
}

// store reads and stores a message. again is when it is to be looked at again; 0: it is done with.
func (r *Reader) store(ctx context.Context, c *connection, l *lease, uid imap.UID) (again time.Duration, err error) {
	size, err := c.size(uid)
	if err != nil || size < 0 { // another client has deleted it
		return againAfter, err
	}
	if size > r.MaxSize {
		r.Ingress.Fail(r.Name, fmt.Sprintf("a message of %d octets is larger than smtp.max_size and stays in the mailbox", size))
		return strayAfter, nil
	}
	waiting, cancel := context.WithTimeout(ctx, memoryIn)
	defer cancel()
	memory, err := r.Memory.Acquire(waiting, budget.Mail, "ingress "+r.Name, size+r.Cost(size))
	if err != nil {
		return againAfter, nil // it is no error of the connection
	}
	defer memory.Release()
	data, err := c.fetch(uid, size)
	if err != nil || data == nil {
		return againAfter, err
	}
	from, to := envelopeOf(data, func(address string) bool { return r.Served(ctx, address) })
	if len(to) == 0 {
		r.Ingress.Fail(r.Name, "a message has no Delivered-To, X-Original-To or Envelope-To, and stays in the mailbox")
		return strayAfter, nil
	}
	if err := l.check(); err != nil {
		return 0, err
	}
	outcome := r.Ingress.Take(ctx, r.Name, ingress.Mail{
		ID: c.identify(uid, data), From: from, To: to, Server: c.server, Protocol: "IMAP", Data: data,
	}, memory)
	if outcome == ingress.Deferred {
		return againAfter, nil
	}
	return 0, nil
}

// identify returns what identifies a message: its UID with UIDVALIDITY, and its octets, since a server may use a UID twice all the same.
func (c *connection) identify(uid imap.UID, data []byte) string {
	return fmt.Sprintf("%d.%d.%x", c.validity, uid, sha256.Sum256(data))
}

// sleep waits for d.
func (r *Reader) sleep(ctx context.Context, d time.Duration) {
	timer := r.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
