package wake

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// Bus sends texts to all processes of a service. Delivery is not guaranteed. Package db implements it with NOTIFY and
// LISTEN of PostgreSQL (docs/decisions/0025).
type Bus interface {
	Notify(ctx context.Context, channel string, texts []string) error
	// Listen calls receive with each text until ctx ends. It calls began whenever it starts to listen: texts sent before are missed.
	Listen(ctx context.Context, channel string, began func(), receive func(text string))
}

// channel is the channel of changed keys.
const channel = "gonebox_wake"

const (
	textMax    = 7900                   // octets of one notification, which PostgreSQL bounds at 8,000
	pendingMax = 20_000                 // keys; above it all sleepers are woken instead, which bounds the memory while the bus fails
	retryEvery = 200 * time.Millisecond // after a notification failed
)

// everything means all keys, if there are too many to list.
const everything = "*"

// Relay lets the processes of a service wake each other's sleepers. Keys that are pending while a notification is sent share the next one, so
// an idle service sends a key at once and a busy one sends many together. A process that may have missed notifications wakes all its
// sleepers.
type Relay struct {
	hub    *Hub
	bus    Bus
	origin string // a random name in this process's notifications, by which it ignores them
	topics map[string]func(key string)

	mu      sync.Mutex // guards pending
	pending map[string]struct{}
	more    chan struct{} // has an element when pending may not be empty
}

// NewRelay returns a relay that forwards the keys that hub wakes. It does so while Run runs. A hub has at most one
// relay, which must be created before the hub is used.
func NewRelay(hub *Hub, bus Bus) *Relay {
	r := &Relay{
		hub: hub, bus: bus, origin: rand.Text(), topics: make(map[string]func(string)),
		pending: make(map[string]struct{}), more: make(chan struct{}, 1),
	}
	hub.forward = r.add
	return r
}

// Subscribe calls fn for each key woken by another process that begins with topic and a colon, with the rest of the
// key; with "" if notifications may have been missed. It is for invalidating caches: fn is called on the goroutine
// that receives, so it must not block. It must be called before Run.
func (r *Relay) Subscribe(topic string, fn func(key string)) { r.topics[topic] = fn }

// Run forwards and receives keys until ctx ends.
func (r *Relay) Run(ctx context.Context) {
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() { r.bus.Listen(ctx, channel, r.missed, r.receive) })
	for {
		select {
		case <-r.more:
			r.send(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// add adds keys to the next notification. It does not block. It is the hub's forward.
func (r *Relay) add(keys []string) {
	r.mu.Lock()
	for _, key := range keys {
		r.pending[key] = struct{}{}
	}
	if len(r.pending) > pendingMax {
		r.pending = map[string]struct{}{everything: {}}
	}
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// send sends the pending keys. If that fails they are pending again after a pause.
func (r *Relay) send(ctx context.Context) {
	r.mu.Lock()
	keys := r.pending
	r.pending = make(map[string]struct{})
	r.mu.Unlock()
	if len(keys) == 0 {
		return
	}
	if err := r.bus.Notify(ctx, channel, r.texts(keys)); err != nil {
		sleep(ctx, retryEvery)
		again := make([]string, 0, len(keys))
		for key := range keys {
			again = append(again, key)
		}
		r.add(again)
	}
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// texts returns notifications with the keys, as few as possible, each beginning with the origin.
func (r *Relay) texts(keys map[string]struct{}) []string {
	var texts []string
	var b strings.Builder
	for key := range keys {
		if b.Len() > 0 && b.Len()+1+len(key) > textMax {
			texts = append(texts, b.String())
			b.Reset()
		}
		if b.Len() == 0 {
			b.WriteString(r.origin)
		}
		b.WriteByte('\n')
		b.WriteString(key)
	}
	return append(texts, b.String())
}

// receive wakes the keys of another process's notification.
func (r *Relay) receive(text string) {
	lines := strings.Split(text, "\n")
	if lines[0] == r.origin {
		return
	}
	for _, key := range lines[1:] {
		if key == everything {
			r.missed()
			return
		}
		topic, rest, hasTopic := strings.Cut(key, ":")
		if fn := r.topics[topic]; hasTopic && fn != nil {
			fn(rest)
		}
		r.hub.wake(key)
	}
}

// missed handles a gap in the notifications: any key may have changed.
func (r *Relay) missed() {
	for _, fn := range r.topics {
		fn("")
	}
	r.hub.wakeAll()
}
