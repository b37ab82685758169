package budget_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
)

const mib = 1 << 20

// total is a budget whose half is 128 MiB, of which an owner may have 32 MiB, unless it is a single lease of up to 96 MiB. Small requests
// are of up to 1 MiB. They have 32 MiB of the half and 32 MiB as their reserve, and an owner a quarter of each.
const total = 256 * mib

func try(t *testing.T, b *budget.Budget, owner string, n int64) *budget.Lease {
	t.Helper()
	l := b.TryAcquire(budget.Mail, owner, n)
	if l == nil {
		t.Fatalf("TryAcquire of %d octets for %s was refused with %d used, want a lease", n, owner, b.Used(budget.Mail))
	}
	return l
}

func TestLeasesAreCountedByKindUntilTheyAreReleased(t *testing.T) {
	b := budget.New(total)
	mail, request := try(t, b, "a", 10*mib), b.TryAcquire(budget.Request, "a", 3*mib)
	if err := mail.Grow(2 * mib); err != nil {
		t.Fatal(err)
	}
	request.Shrink(mib)
	mail.Use(budget.Batch)
	if got, want := [...]int64{b.Used(budget.Mail), b.Used(budget.Batch)}, [...]int64{0, 12 * mib}; got != want {
		t.Errorf("used %v by mail and batches, want %v", got, want)
	}
	mail.Use(budget.Mail)
	if got, want := [...]int64{b.Used(budget.Mail), b.Used(budget.Request), b.Used(budget.Batch)}, [...]int64{12 * mib, 2 * mib, 0}; got != want {
		t.Errorf("used %v, want %v", got, want)
	}
	for range 2 {
		mail.Release()
		request.Release()
	}
	for _, k := range budget.Kinds() {
		if n := b.Used(k); n != 0 {
			t.Errorf("%d octets of kind %s are used after all was released, want 0", n, k)
		}
	}
	if err := mail.Grow(1); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("a released lease grew: %v, want the error %v", err, budget.ErrExhausted)
	}
}

func TestRequestsBeyondTheBudgetAreCutDown(t *testing.T) {
	b := budget.New(total)
	l := try(t, b, "a", 10*total)
	if l.Size() != 96*mib {
		t.Errorf("a lease of %d octets has %d, want %d", 10*total, l.Size(), 96*mib)
	}
	if b.TryAcquire(budget.Mail, "b", 33*mib) != nil {
		t.Error("TryAcquire(33 MiB) of another owner succeeded, want it refused beside the first lease")
	}
}

func TestAnOwnerWaitsForItsOwnShare(t *testing.T) {
	b := budget.New(total)
	for range 3 {
		try(t, b, "greedy", 10*mib)
	}
	if b.TryAcquire(budget.Mail, "greedy", 10*mib) != nil {
		t.Error("TryAcquire of the owner with three leases succeeded, want it refused beyond its share")
	}
	for i := range 3 {
		try(t, b, fmt.Sprint(i), 30*mib)
	}
}

func TestAnOwnerWithoutLeasesMayExceedItsShareOnce(t *testing.T) {
	b := budget.New(total)
	l := try(t, b, "a", 60*mib)
	if err := l.Grow(10 * mib); err != nil {
		t.Errorf("its only lease cannot grow: %v", err)
	}
	if b.TryAcquire(budget.Mail, "a", 2*mib) != nil {
		t.Error("TryAcquire of a second lease succeeded, want it refused beyond the owner's share")
	}
}

func TestGrowFailsAtOnceWhereTheBudgetIsUsedUp(t *testing.T) {
	b := budget.New(total)
	l := try(t, b, "a", 20*mib)
	for i := range 3 {
		try(t, b, fmt.Sprint(i), 32*mib)
	}
	if err := l.Grow(20 * mib); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("Grow: %v, want the error %v", err, budget.ErrExhausted)
	}
	if l.Size() != 20*mib {
		t.Errorf("the lease has %d octets after Grow failed, want %d as before", l.Size(), 20*mib)
	}
}

// Many addresses hold as many small leases as they can get, and all wait to expand one: there is always room for one of them.
func TestSmallLeasesThatExpandDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, all := budget.New(total), make(chan struct{})
		var waiting sync.WaitGroup
		for i := range 1000 {
			waiting.Go(func() {
				l, err := b.Acquire(t.Context(), budget.Mail, fmt.Sprint(i%100), mib)
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Release()
				<-all
				if err := l.Expand(t.Context(), 96*mib); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if got := b.Used(budget.Mail); got != 64*mib {
			t.Errorf("small leases hold %d octets, want %v", got, 64*mib)
		}
		close(all)
		waiting.Wait()
	})
}

// All of the half is held by leases that need more to be finished.
func TestLeasesCanBeFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(total)
		var waiting sync.WaitGroup
		for i := range 4 {
			l := try(t, b, fmt.Sprint(i), 32*mib)
			waiting.Go(func() {
				defer l.Release()
				if err := l.Finish(t.Context(), 90*mib); err != nil {
					t.Error(err)
				}
				if l.Size() != 122*mib {
					t.Errorf("the lease has %d octets after Finish, want %d", l.Size(), 122*mib)
				}
			})
		}
		waiting.Wait()
	})
}

func TestALeaseThatIsNotSmallCannotWaitForMore(t *testing.T) {
	b := budget.New(total)
	l := try(t, b, "a", 2*mib)
	if err := l.Expand(t.Context(), mib); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("a large lease expands: %v, want the error %v", err, budget.ErrExhausted)
	}
	if err := l.Finish(t.Context(), mib); err != nil {
		t.Fatal(err)
	}
	if err := l.Finish(t.Context(), mib); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("a lease waits after it had what it needs to be finished: %v, want the error %v", err, budget.ErrExhausted)
	}
	l.Release()
	if err := l.Expand(t.Context(), mib); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("a released lease expands: %v, want the error %v", err, budget.ErrExhausted)
	}
}

// One address sends large mail on 200 connections; another's small requests, and its own, never wait.
func TestSmallRequestsDoNotWaitBehindLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(total)
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		for i := range 200 {
			waiting.Go(func() {
				if l, err := b.Acquire(ctx, budget.Mail, fmt.Sprint("greedy", i%8), 40*mib); err == nil {
					<-ctx.Done()
					l.Release()
				}
			})
		}
		synctest.Wait()
		for range 1000 {
			for _, owner := range []string{"small", "greedy0"} {
				l, err := b.Acquire(t.Context(), budget.Request, owner, mib/2)
				if err != nil {
					t.Fatal(err)
				}
				l.Release()
			}
		}
		cancel()
		waiting.Wait()
	})
}

// One address holds as many small leases as it can get, and waits for more of both sizes.
func TestAnOwnerCannotUseUpTheReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(total)
		for i := range 4 { // the half is used up by others
			try(t, b, fmt.Sprint(i), 32*mib)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		for i := range 500 {
			waiting.Go(func() {
				if l, err := b.Acquire(ctx, budget.Mail, "greedy", int64(mib+i%2*mib)); err == nil {
					<-ctx.Done()
					l.Release()
				}
			})
		}
		synctest.Wait()
		try(t, b, "another", mib).Release()
		cancel()
		waiting.Wait()
	})
}

func TestOwnersAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(total)
		all := try(t, b, "holder", total)
		var order []string
		var waiting sync.WaitGroup
		for _, owner := range []string{"a", "a", "a", "b", "c"} {
			waiting.Go(func() {
				l, err := b.Acquire(t.Context(), budget.Mail, owner, total) // one at a time
				if err != nil {
					t.Error(err)
				}
				order = append(order, owner)
				l.Release()
			})
			synctest.Wait()
		}
		all.Release()
		waiting.Wait()
		if got := fmt.Sprint(order); got != "[a b c a a]" {
			t.Errorf(`served %s, want "[a b c a a]"`, got)
		}
	})
}

func TestALargeRequestIsNotOvertakenForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(total)
		first, second := try(t, b, "a", 50*mib), try(t, b, "b", 50*mib)
		var waiting sync.WaitGroup
		var large *budget.Lease
		waiting.Go(func() { large, _ = b.Acquire(t.Context(), budget.Mail, "c", 90*mib) })
		synctest.Wait()
		if b.TryAcquire(budget.Mail, "d", 10*mib) != nil {
			t.Error("TryAcquire of a later request succeeded, want it to wait behind the large one")
		}
		first.Release()
		second.Release()
		waiting.Wait()
		if large == nil {
			t.Error("Acquire(90 MiB) was not granted after the other leases were released, want a lease")
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(total)
		held := try(t, b, "a", 96*mib)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var waiting sync.WaitGroup
		waiting.Go(func() { // gives up, and so lets the one behind it pass
			if _, err := b.Acquire(ctx, budget.Mail, "b", 80*mib); !errors.Is(err, budget.ErrExhausted) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Acquire: %v, want the error %v and the error %v", err, budget.ErrExhausted, context.DeadlineExceeded)
			}
		})
		synctest.Wait()
		waiting.Go(func() {
			if _, err := b.Acquire(t.Context(), budget.Mail, "c", 40*mib); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		held.Shrink(20 * mib) // enough for c, and not for b
		waiting.Wait()
	})
}

func TestTheBudgetIsNeverExceededAndNothingIsLost(t *testing.T) {
	b := budget.New(total)
	var sum atomic.Int64
	var clients sync.WaitGroup
	for i := range 32 {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		clients.Go(func() {
			for range 200 {
				l, err := b.Acquire(t.Context(), budget.Mail, fmt.Sprint(i%6), random.Int64N(mib<<random.IntN(6)))
				if err == nil && l.Size() <= b.Small() && random.IntN(2) == 0 {
					err = l.Expand(t.Context(), random.Int64N(64*mib))
				}
				if err == nil && random.IntN(2) == 0 {
					err = l.Finish(t.Context(), random.Int64N(64*mib))
				}
				if err != nil {
					t.Error(err)
					return
				}
				l.Shrink(random.Int64N(mib))
				size := l.Size()
				if now := sum.Add(size); now > total {
					t.Errorf("%d octets are held, want at most %v", now, total)
				}
				sum.Add(-size)
				l.Release()
			}
		})
	}
	clients.Wait()
	if n := b.Used(budget.Mail); n != 0 {
		t.Errorf("%d octets are used after all was released, want 0", n)
	}
	try(t, b, "a", 96*mib)
}

func BenchmarkAcquire(b *testing.B) {
	budgeted := budget.New(total)
	b.ReportAllocs()
	for b.Loop() {
		budgeted.TryAcquire(budget.Mail, "192.0.2.1", 64<<10).Release()
	}
}
