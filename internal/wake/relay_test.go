package wake_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/wake"
)

// bus is what processes share; it may lose everything for a while.
type bus struct {
	mu       sync.Mutex
	down     bool
	sent     int // texts
	longest  int
	ears     map[int]func(string)
	begins   map[int]func()
	attached int
}

func newBus() *bus { return &bus{ears: make(map[int]func(string)), begins: make(map[int]func())} }

func (b *bus) Notify(_ context.Context, _ string, texts []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return errors.New("the line is dead")
	}
	for _, text := range texts {
		b.sent++
		b.longest = max(b.longest, len(text))
		for _, hear := range b.ears {
			hear(text)
		}
	}
	return nil
}

func (b *bus) Listen(ctx context.Context, _ string, began func(), hear func(string)) {
	b.mu.Lock()
	b.attached++
	me := b.attached
	b.ears[me], b.begins[me] = hear, began
	began()
	b.mu.Unlock()
	<-ctx.Done()
}

// cluster runs so many processes on a bus until the test ends.
func cluster(ctx context.Context, b *bus, n int) (hubs []*wake.Hub, relays []*wake.Relay, run func() (wait func())) {
	for range n {
		h := wake.New()
		hubs, relays = append(hubs, h), append(relays, wake.NewRelay(h, b))
	}
	return hubs, relays, func() func() {
		var wg sync.WaitGroup
		for _, r := range relays {
			wg.Go(func() { r.Run(ctx) })
		}
		return wg.Wait
	}
}

// sleepFor sleeps on a key of a hub and gives how long it took to be woken, a minute if it was not.
func sleepFor(t *testing.T, h *wake.Hub, key string) <-chan time.Duration {
	woken := make(chan time.Duration, 1)
	begin := time.Now()
	go func() {
		reads := 0
		_, err := wake.Until(t.Context(), h, key, time.Minute, func(context.Context) (int, bool, error) {
			reads++
			return reads, reads > 1, nil
		})
		if err != nil {
			t.Errorf("Until(%q): got the error %v, want none", key, err)
		}
		woken <- time.Since(begin)
	}()
	return woken
}

func TestSleepersOfEveryProcessAreWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBus()
		hubs, _, run := cluster(ctx, b, 3)
		wait := run()
		synctest.Wait()
		var woken []<-chan time.Duration
		for _, h := range hubs {
			woken = append(woken, sleepFor(t, h, "mbx_1"))
		}
		other := sleepFor(t, hubs[1], "mbx_2")
		synctest.Wait()
		hubs[0].Wake("mbx_1")
		for i, w := range woken {
			if d := <-w; d >= time.Minute {
				t.Errorf("Wake(mbx_1) by process 0: the sleeper of process %d woke after %s, want before its minute is over", i, d)
			}
		}
		if d := <-other; d < time.Minute {
			t.Errorf("Wake(mbx_1) by process 0: a sleeper on mbx_2 woke after %s, want its whole minute", d)
		}
		cancel()
		wait()
	})
}

func TestKeysThatCouldNotBeSentAreSentLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBus()
		hubs, _, run := cluster(ctx, b, 2)
		wait := run()
		synctest.Wait()
		b.mu.Lock()
		b.down = true
		b.mu.Unlock()
		woken := sleepFor(t, hubs[1], "mbx_1")
		synctest.Wait()
		hubs[0].Wake("mbx_1")
		time.Sleep(10 * time.Second)
		b.mu.Lock()
		b.down = false
		b.mu.Unlock()
		if d := <-woken; d >= time.Minute {
			t.Errorf("Wake(mbx_1) while the database is away for 10 s: the sleeper of another process woke after %s, want when it is back", d)
		}
		cancel()
		wait()
	})
}

// After a gap in the notifications all sleepers read again and all caches are invalidated.
func TestReconnectWakesAllSleepers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBus()
		hubs, relays, run := cluster(ctx, b, 2)
		var forgotten []string
		relays[1].Subscribe("domain", func(key string) { forgotten = append(forgotten, key) })
		wait := run()
		synctest.Wait()
		forgotten = nil // what it began with
		one, two := sleepFor(t, hubs[1], "mbx_1"), sleepFor(t, hubs[1], "mbx_2")
		synctest.Wait()
		b.mu.Lock()
		for _, begin := range b.begins {
			begin()
		}
		b.mu.Unlock()
		if first, second := <-one, <-two; first >= time.Minute || second >= time.Minute {
			t.Errorf("after a reconnect the sleepers woke after %s and %s, want both at once", first, second)
		}
		if strings.Join(forgotten, ",") != "" || len(forgotten) != 1 {
			t.Errorf("after a reconnect the subscriber to domain was told to forget %q, want one empty key, which stands for all", forgotten)
		}
		cancel()
		wait()
	})
}

func TestTopicsReachOtherProcessesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBus()
		hubs, relays, run := cluster(ctx, b, 2)
		heard := make([][]string, 2)
		for i, r := range relays {
			r.Subscribe("domain", func(key string) {
				if key != "" {
					heard[i] = append(heard[i], key)
				}
			})
		}
		wait := run()
		synctest.Wait()
		hubs[0].Wake("domain:a.example")
		hubs[0].Wake("filter:acc_1") // without a subscriber
		synctest.Wait()
		if got := fmt.Sprint(heard); got != "[[] [a.example]]" {
			t.Errorf("Wake(domain:a.example) by process 0: the subscribers of the two processes heard %s, want only the second", got)
		}
		cancel()
		wait()
	})
}

// Many keys share few notifications, none of which is longer than PostgreSQL takes.
func TestManyKeysShareNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBus()
		hubs, _, run := cluster(ctx, b, 2)
		wait := run()
		synctest.Wait()
		const n = 1000
		var keys []string
		for i := range n {
			keys = append(keys, fmt.Sprintf("mbx_%026d", i))
		}
		last := sleepFor(t, hubs[1], keys[n-1])
		synctest.Wait()
		hubs[0].Wake(keys...)
		if d := <-last; d >= time.Minute {
			t.Errorf("Wake of 1,000 keys: the sleeper on the last one woke after %s, want at once", d)
		}
		synctest.Wait() // the sleeper may wake while its notification is still being counted
		if b.sent > 5 || b.longest >= 8000 {
			t.Errorf("Wake of 1,000 keys: got %d notifications, the longest of %d octets, want 5 at most, of less than 8,000", b.sent, b.longest)
		}
		cancel()
		wait()
	})
}
