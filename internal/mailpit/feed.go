package mailpit

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/sink"
)

const (
	// pollEvery is how often the feed looks for changes. If there are none, it reads one row.
	pollEvery = 200 * time.Millisecond

	// batchOctets is the size at which a batch of events is complete, although its page may have more changes.
	batchOctets = 256 << 10

	// queueMax is how many batches may wait for a follower. All followers share the batches, so that together they hold
	// some queueMax of them, however many they are.
	queueMax = 8

	// lagMax is how long the feed waits for a follower whose queue is full. It then ends the stream of that follower.
	lagMax = 2 * time.Second
)

// event is a message that a stream sends. The names of the fields are those in JSON.
type event struct {
	Type string
	Data any
}

// stats is the data of the event stats.
type stats struct {
	Total, Unread int
	Version       string
	Tags          []string
}

// change is the data of the events update and delete. Read and Tags are nil for delete.
type change struct {
	ID   id.SinkMail
	Read *bool     `json:",omitempty"`
	Tags *[]string `json:",omitempty"`
}

// batch is a number of events as WebSocket frames, which are the same for all followers. Its memory is leased until each
// of them has sent it.
type batch struct {
	frames []byte
	upTo   int64 // the last change of the round that it belongs to
	lease  *budget.Lease
	users  atomic.Int64 // followers that have not sent it, and the feed until it has queued it for all
}

// done ends one use of the batch.
func (b *batch) done() {
	if b.users.Add(-1) == 0 {
		b.lease.Release()
	}
}

// follower is an event stream, for which the feed queues batches.
type follower struct {
	from   int64           // batches up to this change are older than the stream
	ctx    context.Context // done when the stream must end: its client has left, or the feed has dropped it
	cancel context.CancelFunc
	ready  chan struct{} // has an element if a batch may have been queued
	space  chan struct{} // has an element if a batch may have been taken

	// mu guards the fields below.
	mu    sync.Mutex
	queue []*batch // at most queueMax
	ended bool     // no batches are queued any more
}

// put queues a batch and reports whether it is done with it: a batch that is older than the stream, or that comes after
// its end, is not queued. It returns false if the queue is full.
func (f *follower) put(b *batch) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.ended || b.upTo <= f.from:
		return true
	case len(f.queue) >= queueMax:
		return false
	}
	b.users.Add(1)
	f.queue = append(f.queue, b)
	signal(f.ready)
	return true
}

// take returns the oldest batch in the queue, or nil if there is none. The caller must call its done.
func (f *follower) take() *batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return nil
	}
	b := f.queue[0]
	f.queue = f.queue[1:]
	signal(f.space)
	return b
}

// end drops the queue.
func (f *follower) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for _, b := range f.queue {
		b.done()
	}
	f.queue = nil
}

// signal adds an element to a channel of one element, if it has none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// feeds are the feeds of all mail and of projects, as far as they have event streams. They are safe for concurrent use.
type feeds struct {
	mails   *sink.Service
	memory  *budget.Budget
	version string
	running sync.WaitGroup // the goroutines of all runs

	mu        sync.Mutex // guards byProject
	byProject map[id.Project]*feed
}

// feed reads the changes of all mail, or of that of a project, once for all event streams, and encodes each once. A goroutine does so while
// there is a stream. It is safe for concurrent use.
type feed struct {
	*feeds
	joined int // streams, guarded by feeds.mu: the feed is dropped with the last

	// mu guards run, and the followers of all runs.
	mu  sync.Mutex
	run *run // nil: there is no follower
}

// join returns the feed for the project of ctx, or that of all mail, and a follower of it. The caller must call leave.
func (f *feeds) join(ctx context.Context) (*feed, *follower, error) {
	project := sink.ProjectOf(ctx)
	f.mu.Lock()
	of := f.byProject[project]
	if of == nil {
		of = &feed{feeds: f}
		f.byProject[project] = of
	}
	of.joined++
	f.mu.Unlock()
	joined, err := of.join(ctx)
	if err != nil {
		f.drop(project, of)
	}
	return of, joined, err
}

// leave ends a follower of the feed for the project of ctx.
func (f *feeds) leave(ctx context.Context, of *feed, left *follower) {
	of.leave(left)
	f.drop(sink.ProjectOf(ctx), of)
}

// drop ends a use of a feed.
func (f *feeds) drop(project id.Project, of *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of.joined--; of.joined == 0 {
		delete(f.byProject, project)
	}
}

// run is a goroutine of the feed with its followers. It ends with the last of them; a later follower begins another run.
type run struct {
	*feed
	reader    *sink.ChangeReader
	tags      []string // at the end of the previous round, or when the run began
	stop      context.CancelFunc
	followers map[*follower]struct{}
}

// join returns a follower of the changes from now on. The caller must call leave. ctx is that of the request, and does not
// end the follower.
func (f *feed) join(ctx context.Context) (*follower, error) {
	reader, err := f.mails.Follow(ctx)
	if err != nil {
		return nil, err
	}
	tags, err := f.mails.TagNames(ctx)
	if err != nil {
		return nil, err
	}
	joined := &follower{from: reader.Since(), ready: make(chan struct{}, 1), space: make(chan struct{}, 1)}
	joined.ctx, joined.cancel = context.WithCancel(context.WithoutCancel(ctx))
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.run == nil {
		background, stop := context.WithCancel(context.WithoutCancel(ctx))
		f.run = &run{feed: f, reader: reader, tags: tags, stop: stop, followers: make(map[*follower]struct{})}
		f.running.Add(1)
		go func(r *run) {
			defer f.running.Done()
			r.read(background)
		}(f.run)
	}
	f.run.followers[joined] = struct{}{}
	return joined, nil
}

// leave ends a follower.
func (f *feed) leave(left *follower) {
	f.mu.Lock()
	if f.run != nil {
		f.run.drop(left)
	}
	f.mu.Unlock()
	left.end()
}

// drop removes a follower, if it is one of this run, and ends the run with its last follower. The caller holds mu.
func (r *run) drop(f *follower) {
	if _, ok := r.followers[f]; !ok {
		return
	}
	delete(r.followers, f)
	f.cancel()
	if len(r.followers) == 0 {
		r.stop()
		if r.run == r {
			r.run = nil
		}
	}
}

// read passes changes on to the followers until there are none. After an error of the database it drops them, and their
// clients connect again.
func (r *run) read(ctx context.Context) {
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for f := range r.followers {
			r.drop(f)
		}
		r.stop()
	}()
	for {
		timer := clock.System().NewTimer(pollEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		if err := r.readRound(ctx); err != nil {
			return
		}
	}
}

// readRound passes on what has changed since the previous round: the events of the changes, and then the event stats. If
// there are no messages left, truncate precedes it, so that clients clear their lists, and prune if there are tags that no
// message has any more.
func (r *run) readRound(ctx context.Context) error {
	changed := false
	for more := true; more; {
		var frames []byte
		var failed error
		var err error
		more, err = r.reader.Next(ctx, func(c sink.Change) bool {
			frames, failed = appendEvent(frames, eventOf(c))
			return failed == nil && len(frames) < batchOctets
		})
		if err == nil {
			err = failed
		}
		if err == nil && len(frames) > 0 {
			changed = true
			err = r.publish(ctx, frames)
		}
		if err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	page, err := r.mails.Search(ctx, nil, 0, 0)
	if err != nil {
		return err
	}
	tags, err := r.mails.TagNames(ctx)
	if err != nil {
		return err
	}
	var frames []byte
	switch lost := lacks(tags, r.tags); {
	case page.Total == 0:
		frames, err = appendEvent(frames, event{"truncate", nil})
	case lost: // Mailpit's page then reads the list again, and with it the tags
		frames, err = appendEvent(frames, event{"prune", nil})
	}
	if err != nil {
		return err
	}
	r.tags = tags
	if frames, err = appendEvent(frames, event{"stats", stats{page.Total, page.Unread, r.version, tags}}); err != nil {
		return err
	}
	return r.publish(ctx, frames)
}

// lacks reports whether tags are not all of earlier ones.
func lacks(tags, earlier []string) bool {
	return slices.ContainsFunc(earlier, func(t string) bool { return !slices.Contains(tags, t) })
}

// eventOf returns the event of a change.
func eventOf(c sink.Change) event {
	switch {
	case c.Deleted:
		return event{"delete", change{ID: c.ID}}
	case c.New:
		return event{"new", summaryOf(c.Mail)}
	}
	tags := list(c.Tags)
	return event{"update", change{c.ID, &c.Seen, &tags}}
}

// appendEvent appends an event as a frame.
func appendEvent(frames []byte, e event) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return frames, err
	}
	return append(appendFrameHeader(frames, opText, len(text)), text...), nil
}

// publish queues frames for all followers. While the memory for them is not free, it waits. It waits lagMax in all for the
// followers whose queues are full, and then drops these.
func (r *run) publish(ctx context.Context, frames []byte) error {
	lease, err := r.memory.Acquire(ctx, budget.Response, "", int64(cap(frames)))
	if err != nil {
		return err
	}
	b := &batch{frames: frames, upTo: r.reader.UpTo(), lease: lease}
	b.users.Add(1)
	defer b.done()
	waiting, stop := context.WithTimeout(ctx, lagMax)
	defer stop()
	r.mu.Lock()
	followers := slices.Collect(maps.Keys(r.followers))
	r.mu.Unlock()
	for _, f := range followers {
		if !f.await(waiting, b) {
			r.mu.Lock()
			r.drop(f)
			r.mu.Unlock()
		}
	}
	return ctx.Err()
}

// await queues a batch as soon as there is space for it. It returns false if there is none before ctx ends.
func (f *follower) await(ctx context.Context, b *batch) bool {
	for !f.put(b) {
		select {
		case <-f.space:
		case <-f.ctx.Done():
			return true
		case <-ctx.Done():
			return f.put(b) // there may be space by now: others have used up the time
		}
	}
	return true
}
