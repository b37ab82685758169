package catchall

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/ingress"
)

// run runs a reader for d.
func run(t *testing.T, r *Reader, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	r.Run(ctx)
}

// A reader whose lease has ended, because another process has it or because the database is away, stores and deletes nothing.
func TestReaderWithoutLeaseStoresAndDeletesNothing(t *testing.T) {
	lost := map[string]func() (bool, error){
		"another process has it": func() (bool, error) { return false, nil },
		"the database is away":   func() (bool, error) { return false, errors.New("no database") },
		"the database hangs":     func() (bool, error) { time.Sleep(renewIn); return false, context.DeadlineExceeded },
	}
	for name, renewal := range lost {
		for _, during := range []string{"UID FETCH 1 (UID BODY", "the delivery"} {
			synctest.Test(t, func(t *testing.T) {
				var gone atomic.Bool
				in := &fakeIngress{lease: func() (bool, error) {
					if gone.Load() {
						return renewal()
					}
					return true, nil
				}}
				stored := 0
				in.take = func(string) ingress.Outcome {
					stored++
					if during == "the delivery" {
						gone.Store(true)
						time.Sleep(leaseFor)
					}
					return ingress.Stored
				}
				server := &fakeServer{messages: map[int]string{1: message(20_000)}}
				server.before = func(command string) { gone.Store(gone.Load() || strings.HasPrefix(command, during)) }
				server.pause = func(int) { time.Sleep(5 * time.Second) }
				run(t, newReader(t, server, in), 10*time.Minute)
				if want := map[string]int{"the delivery": 1}[during]; stored != want {
					t.Errorf("%s during %s: %d messages are stored, want %d", name, during, stored, want)
				}
				if all := append(server.received("UID STORE"), server.received("UID EXPUNGE")...); len(all) > 0 {
					t.Errorf("%s during %s: the reader sends %q, want nothing that deletes", name, during, all)
				}
			})
		}
	}
}

// The lease is renewed while a message takes longer than it lasts, and while the database is away for a short time.
func TestLeaseIsRenewedDuringTransfer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renewals := 0
		in := &fakeIngress{lease: func() (bool, error) {
			if renewals++; renewals%3 == 0 {
				return false, errors.New("no database")
			}
			return true, nil
		}}
		server := &fakeServer{messages: map[int]string{1: message(20_000)}, pause: func(int) { time.Sleep(15 * time.Second) }}
		run(t, newReader(t, server, in), 10*time.Minute)
		if len(in.stored) != 1 || server.left() != 0 {
			t.Errorf("a message that takes 300 s: stored %q, %d left, want it stored and deleted", in.stored, server.left())
		}
		if want := int(5 * time.Minute / renewEvery); renewals < want {
			t.Errorf("the lease was renewed %d times in ten minutes, want at least %d", renewals, want)
		}
	})
}

// A reader that waits for the lease connects only when it has it, soon after.
func TestStandbyTakesOverWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := time.Now().Add(7*time.Minute + 300*time.Millisecond)
		in := &fakeIngress{lease: func() (bool, error) { return time.Now().After(free), nil }}
		var connected time.Time
		server := &fakeServer{messages: map[int]string{1: message(2000)}}
		server.before = func(string) {
			if connected.IsZero() {
				connected = time.Now()
			}
		}
		run(t, newReader(t, server, in), 10*time.Minute)
		if wait := connected.Sub(free); wait < 0 || wait > standbyFor {
			t.Errorf("the reader connects %v after the lease is free, want within %v", wait, standbyFor)
		}
		if len(in.failed) > 0 {
			t.Errorf("waiting for the lease is reported as %q, want no error", in.failed)
		}
	})
}

// At a shutdown the lease is given back; after an error it is kept.
func TestLeaseIsReleasedAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &releases{}
		server := &fakeServer{messages: map[int]string{}}
		failed := false
		server.before = func(command string) {
			if command == "IDLE" && !failed {
				failed = true
				time.Sleep(answerIn + time.Second)
			}
		}
		run(t, newReader(t, server, in), time.Minute)
		if !failed || in.released != 1 {
			t.Errorf("one lost connection (%v) and a shutdown give the lease back %d times, want once", failed, in.released)
		}
	})
}

// releases counts how often a lease is given back.
type releases struct {
	fakeIngress
	released int
}

func (r *releases) Lease(_ context.Context, _, _ string, d time.Duration) (bool, error) {
	if d == 0 {
		r.released++
	}
	return true, nil
}
