package wake

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// Bus carries texts between the processes of a service, to all but not surely to each.
type Bus interface {
	Notify(ctx context.Context, channel string, texts []string) error
	// Listen hears until ctx ends; began is called whenever it begins, for what was said before it has not heard.
	Listen(ctx context.Context, channel string, began func(), hear func(text string))
}

// channel is where processes tell each other which keys changed.
const channel = "gonebox_wake"

const (
	textMax    = 7900 // octets of one notification, which PostgreSQL bounds at 8,000
	pendingMax = 20_000
	retryEvery = 200 * time.Millisecond
)

// everything stands for all keys, where there are too many to name.
const everything = "*"

// Relay lets the processes of a service wake each other's sleepers. The keys that wait to be told go together: at rest
// a key goes at once, under load many share a notification. Whoever may have missed one wakes all its sleepers.
type Relay struct {
	hub    *Hub
	bus    Bus
	origin string // tells the own notifications from others'
	topics map[string]func(key string)

	mu      sync.Mutex
	pending map[string]struct{}
	more    chan struct{}
}

// NewRelay has what hub is told to wake told to other processes, once Run runs.
func NewRelay(hub *Hub, bus Bus) *Relay {
	r := &Relay{
		hub: hub, bus: bus, origin: rand.Text(), topics: make(map[string]func(string)),
		pending: make(map[string]struct{}), more: make(chan struct{}, 1),
	}
	hub.forward = r.tell
	return r
}

// Subscribe has fn hear of the keys that other processes wake which begin with topic and a colon: fn is given what follows, or
// "" where any may have changed unheard. It is for what a process remembers of the storage. Call it before Run.
func (r *Relay) Subscribe(topic string, fn func(key string)) { r.topics[topic] = fn }

// Run carries keys until ctx ends.
func (r *Relay) Run(ctx context.Context) {
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() { r.bus.Listen(ctx, channel, r.missed, r.hear) })
	for {
		select {
		case <-r.more:
			r.send(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// tell notes keys for the next notification.
func (r *Relay) tell(keys []string) {
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

// send tells all that waits; what could not be told waits on.
func (r *Relay) send(ctx context.Context) {
	r.mu.Lock()
	keys := r.pending
	r.pending = make(map[string]struct{})
	r.mu.Unlock()
	if len(keys) == 0 {
		return
	}
	if err := r.bus.Notify(ctx, channel, r.texts(keys)); err != nil {
		rest(ctx, retryEvery)
		again := make([]string, 0, len(keys))
		for key := range keys {
			again = append(again, key)
		}
		r.tell(again)
	}
}

// rest waits for d or the end of ctx.
func rest(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// texts are the keys on as few notifications as they fit, each with its origin in front.
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

// hear wakes whom another process told to.
func (r *Relay) hear(text string) {
	lines := strings.Split(text, "\n")
	if lines[0] == r.origin {
		return
	}
	for _, key := range lines[1:] {
		if key == everything {
			r.missed()
			return
		}
		topic, rest, remembered := strings.Cut(key, ":")
		if fn := r.topics[topic]; remembered && fn != nil {
			fn(rest)
		}
		r.hub.wake(key)
	}
}

// missed is for when anything may have changed.
func (r *Relay) missed() {
	for _, fn := range r.topics {
		fn("")
	}
	r.hub.wakeAll()
}
