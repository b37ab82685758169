package cache_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/cache"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func has(t *testing.T, c *cache.Cache[string, int], now time.Time, want map[string]bool) {
	t.Helper()
	for key, want := range want {
		if _, ok := c.Get(key, now); ok != want {
			t.Errorf("%s is cached: %t, want %t", key, ok, want)
		}
	}
}

func TestAValueIsCachedUntilItExpires(t *testing.T) {
	c := cache.New[string, int](10)
	c.Put("minute", 1, 1, noon.Add(time.Minute))
	c.Put("ever", 2, 1, time.Time{})
	has(t, c, noon.Add(time.Minute-1), map[string]bool{"minute": true, "ever": true, "never": false})
	has(t, c, noon.Add(time.Minute), map[string]bool{"minute": false, "ever": true})
}

func TestTheLeastRecentlyUsedValuesAreDropped(t *testing.T) {
	c := cache.New[string, int](10)
	c.Put("a", 1, 4, time.Time{})
	c.Put("b", 2, 4, time.Time{})
	c.Get("a", noon)
	c.Put("c", 3, 4, time.Time{})
	has(t, c, noon, map[string]bool{"a": true, "b": false, "c": true})
	c.Put("huge", 4, 11, time.Time{})
	has(t, c, noon, map[string]bool{"a": true, "c": true, "huge": false})
	c.Put("a", 5, 1, time.Time{}) // in place of the old one, whose cost is returned
	c.Put("d", 6, 5, time.Time{})
	has(t, c, noon, map[string]bool{"a": true, "c": true, "d": true})
	if v, _ := c.Get("a", noon); v != 5 {
		t.Errorf("a is %d after it was replaced by 5, want 5", v)
	}
}

func TestAValueReadBeforeAChangeIsNotStoredAfterIt(t *testing.T) {
	c := cache.New[string, int](10)
	for _, change := range []func(){func() { c.Forget("a") }, c.Clear} {
		_, _, epoch := c.Look("a", noon)
		change()
		c.PutSince(epoch, "a", 1, 1, time.Time{})
		has(t, c, noon, map[string]bool{"a": false})
		_, _, epoch = c.Look("a", noon)
		c.PutSince(epoch, "a", 1, 1, time.Time{})
		has(t, c, noon, map[string]bool{"a": true})
	}
}

func TestForgetAndClear(t *testing.T) {
	c := cache.New[string, int](2)
	c.Put("a", 1, 1, time.Time{})
	c.Put("b", 2, 1, time.Time{})
	c.Forget("a")
	has(t, c, noon, map[string]bool{"a": false, "b": true})
	c.Clear()
	has(t, c, noon, map[string]bool{"b": false})
	c.Put("c", 3, 2, time.Time{}) // the cost of what was cleared is returned
	has(t, c, noon, map[string]bool{"c": true})
}

func TestManyGoroutinesShareACache(t *testing.T) {
	c := cache.New[string, int](20)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				key := fmt.Sprint(i % 30)
				if _, ok, epoch := c.Look(key, noon); !ok {
					c.PutSince(epoch, key, i, 1, noon.Add(time.Minute))
				}
				if i%50 == g {
					c.Forget(key)
				}
			}
		})
	}
	all.Wait()
}
