package db

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// errNotAnswering is the error of calls while the PostgreSQL server does not respond.
var errNotAnswering = fmt.Errorf("PostgreSQL does not answer: %w", ErrUnavailable)

// errTooManyWaiting is the error of a call that would have to wait behind too many others (Options.MaxWaiting).
var errTooManyWaiting = fmt.Errorf("too many calls wait for the database: %w", ErrUnavailable)

// ticksPerTimeout is how often the monitor checks its sockets within Options.Timeout.
const ticksPerTimeout = 20

// monitor opens the sockets to a PostgreSQL server and detects when the server no longer responds: stopped, frozen or disconnected
// without a reset, so that no socket fails by itself.
//
// A goroutine checks all sockets ticksPerTimeout times within Options.Timeout. When a socket has waited for an answer for half of the timeout,
// the monitor probes the server with a connection of its own. If the server answers the probe, only that socket is closed, at the end of
// the timeout. If not, the server is considered down: all sockets are closed at once, so that the connections of a pool are not tried
// one after the other, and calls fail immediately until a probe is answered.
//
// Time is counted in ticks of that goroutine, so that a pause of this process itself is not mistaken for one of the server.
type monitor struct {
	log     *slog.Logger
	timeout time.Duration
	dialer  net.Dialer
	probing []*pgx.ConnConfig // for probing each host; these sockets are not monitored
	tick    atomic.Int64      // number of the current tick; the first is 1

	preferred atomic.Pointer[string] // the host that last answered a probe (hostOf); nil: there has been no probe

	reads      atomic.Pointer[context.Context] // the context of reads that begin in this tick: it ends Options.Timeout later
	waiting    atomic.Int64                    // calls that wait for a connection or for their first result
	waitingMax int64

	mu         sync.Mutex
	sockets    map[*socket]struct{}
	generation int64           // of sockets; older ones are not used again
	up         context.Context // ends with errNotAnswering while the server is down, and with ErrClosed
	takeDown   context.CancelCauseFunc
	checking   bool // a probe is running

	stop    context.CancelFunc
	running sync.WaitGroup
}

// newMonitor returns a running monitor of the server of config; close stops it.
func newMonitor(config *pgx.ConnConfig, o Options) *monitor {
	m := &monitor{
		log: o.Logger, timeout: o.Timeout, waitingMax: int64(o.MaxWaiting), sockets: make(map[*socket]struct{}),
		dialer: net.Dialer{
			Control:         func(network, _ string, c syscall.RawConn) error { return setUserTimeout(network, c, o.Timeout) },
			KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: o.Timeout, Interval: max(time.Second, o.Timeout/4), Count: 4},
		},
	}
	probing := config.Copy()
	probing.DialFunc = m.dialer.DialContext
	m.probing = perHost(probing)
	m.up, m.takeDown = context.WithCancelCause(context.Background())
	m.nextTick()
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.running.Go(func() { m.watch(ctx) })
	return m
}

// close stops the monitor and closes all sockets; nothing can be dialed afterwards. It may be called more than once.
func (m *monitor) close() {
	m.stop()
	m.disconnect(ErrClosed)
	m.running.Wait()
}

// watch checks the sockets at each tick until ctx ends.
func (m *monitor) watch(ctx context.Context) {
	for sleep(ctx, m.timeout/ticksPerTimeout) {
		m.nextTick()
		overdue, suspicious := m.overdue()
		for _, s := range overdue {
			m.log.WarnContext(ctx, "PostgreSQL did not answer on a connection in time, closing the connection", "timeout", m.timeout)
			_ = s.Close()
		}
		if suspicious {
			m.probe(ctx)
		}
	}
}

// sleep waits for d and reports whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	pause, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-pause.Done()
	return ctx.Err() == nil
}

// nextTick begins the next tick.
func (m *monitor) nextTick() {
	m.tick.Add(1)
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	context.AfterFunc(ctx, cancel) // releases the timer when it fires; shared by all reads of the tick, the context is never cancelled earlier
	m.reads.Store(&ctx)
}

// overdue returns the sockets on which an answer is overdue, and whether an answer has been awaited for so long that the server may be
// down.
func (m *monitor) overdue() (overdue []*socket, suspicious bool) {
	now := m.tick.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	for s := range m.sockets {
		limit := s.limit.Load()
		switch since, waited := s.waited(now); {
		case limit == 0:
		case waited >= limit:
			overdue = append(overdue, s)
			m.generation = max(m.generation, s.generation+1)
		case waited >= ticksPerTimeout/2 && s.suspected.Swap(since) != since: // once for each wait
			suspicious = true
		}
	}
	return overdue, suspicious
}

// probe starts check on a goroutine, unless it is running already.
func (m *monitor) probe(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checking || m.up.Err() != nil {
		return
	}
	m.checking = true
	m.running.Go(func() { m.check(ctx) })
}

// check probes the server. If the server does not respond, check makes all calls fail, and returns when the server responds again.
func (m *monitor) check(ctx context.Context) {
	err := m.connect(ctx)
	if err != nil && ctx.Err() == nil {
		m.disconnect(errNotAnswering)
		m.log.ErrorContext(ctx, "PostgreSQL does not answer, calls fail until it does", "error", err)
		for sleep(ctx, m.timeout/ticksPerTimeout) && m.connect(ctx) != nil {
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checking = false
	if m.up.Err() != nil && ctx.Err() == nil {
		m.up, m.takeDown = context.WithCancelCause(context.Background())
		m.log.InfoContext(ctx, "PostgreSQL answers again")
	}
}

// disconnect closes all sockets and makes calls fail with cause.
func (m *monitor) disconnect(cause error) {
	m.mu.Lock()
	if m.up.Err() != nil { // for another cause
		m.up, m.takeDown = context.WithCancelCause(context.Background())
	}
	m.takeDown(cause)
	all := m.sockets
	m.sockets = make(map[*socket]struct{})
	m.generation++
	m.mu.Unlock()
	for s := range all {
		_ = s.Conn.Close()
	}
}

// begin registers a read, until end is called, and returns the context to run it with. The context ends at ctx's deadline or after
// Options.Timeout, whichever is earlier. It is not cancelled with ctx, since a read is short and cancelling it would cost the connection. If
// the read is rejected, the context has already ended, with the reason as its error.
func (m *monitor) begin(ctx context.Context) context.Context {
	waiting := m.waiting.Add(1)
	if ctx.Err() != nil {
		return ctx
	}
	if err := m.down(); err != nil {
		return endedContext{ctx, err}
	}
	if waiting > m.waitingMax {
		return endedContext{ctx, errTooManyWaiting}
	}
	limit := *m.reads.Load()
	if limit.Err() != nil { // this process was suspended
		m.nextTick()
		limit = *m.reads.Load()
	}
	end, _ := limit.Deadline()
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		return ctx
	}
	return limit
}

// end ends what begin or enter has begun.
func (m *monitor) end() { m.waiting.Add(-1) }

// enter registers an update, which has its own deadline. The caller must call end, also after an error.
func (m *monitor) enter() error {
	if m.waiting.Add(1) > m.waitingMax {
		return errTooManyWaiting
	}
	return m.down()
}

// down returns the error with which calls fail now, or nil while the server is up.
func (m *monitor) down() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return context.Cause(m.up)
}

// endedContext is a context that has ended with an error of this package.
type endedContext struct {
	context.Context
	err error
}

// Err returns the reason.
func (c endedContext) Err() error { return c.err }

// Done returns a closed channel.
func (endedContext) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
