package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errSilent is the error of what needs a PostgreSQL server that accepts connections, or did, and answers nothing.
var errSilent = fmt.Errorf("PostgreSQL does not answer: %w", ErrUnavailable)

// errCrowded is the error of what would wait for a connection behind too many others.
var errCrowded = fmt.Errorf("too many calls wait for the database: %w", ErrUnavailable)

// ticksPerTimeout is how finely silence is measured.
const ticksPerTimeout = 20

// monitor opens the sockets to a PostgreSQL server and notices when the server falls silent: stopped, frozen, or gone without
// a word, so that no socket ever fails by itself.
//
// A goroutine looks at all sockets twenty times in Options.Timeout. A socket on which an answer is awaited for half of it
// raises suspicion: the monitor opens a connection of its own. If that is answered the server lives, and the socket alone is
// closed when all of Options.Timeout is over. If not, the server is down: every socket is closed at once, so that no
// connection of a pool is tried after another, and calls fail without waiting until a connection is answered again.
//
// Time is counted in turns of that goroutine: a process that was stopped itself does not take that for the server's silence.
type monitor struct {
	log     *slog.Logger
	timeout time.Duration
	dialer  net.Dialer
	probing *pgx.ConnConfig // connects past the monitor
	tick    atomic.Int64    // turns so far, from 1

	reads      atomic.Pointer[context.Context] // what reads that begin in this turn are bounded by
	waiting    atomic.Int64                    // calls that wait for a connection or for a first answer
	waitingMax int64

	mu         sync.Mutex
	sockets    map[*socket]struct{}
	generation int64           // of sockets; those of an earlier one are not used again
	up         context.Context // ends when the server falls silent, and with the monitor; its cause says which
	fall       context.CancelCauseFunc
	checking   bool // a goroutine finds out whether the server answers

	stop    context.CancelFunc
	running sync.WaitGroup
}

// newMonitor returns a monitor of the server that config names. It runs until close.
func newMonitor(config *pgx.ConnConfig, o Options) *monitor {
	m := &monitor{
		log: o.Logger, timeout: o.Timeout, waitingMax: int64(o.Waiting), sockets: make(map[*socket]struct{}),
		dialer: net.Dialer{
			Control:         func(network, _ string, c syscall.RawConn) error { return setUserTimeout(network, c, o.Timeout) },
			KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: o.Timeout, Interval: max(time.Second, o.Timeout/4), Count: 4},
		},
		probing: config.Copy(),
	}
	m.probing.DialFunc = m.dialer.DialContext
	m.up, m.fall = context.WithCancelCause(context.Background())
	m.turn()
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.running.Go(func() { m.watch(ctx) })
	return m
}

// close ends the monitor and every socket; nothing can be dialed any more. It may be called more than once.
func (m *monitor) close() {
	m.stop()
	m.disconnect(ErrClosed)
	m.running.Wait()
}

// watch looks at the sockets until ctx ends.
func (m *monitor) watch(ctx context.Context) {
	for rest(ctx, m.timeout/ticksPerTimeout) {
		m.turn()
		silent, suspicion := m.silent()
		for _, s := range silent {
			m.log.WarnContext(ctx, "PostgreSQL did not answer on a connection in time; the connection is closed", "timeout", m.timeout)
			_ = s.Close()
		}
		if suspicion {
			m.suspect(ctx)
		}
	}
}

// rest waits for d and reports whether ctx goes on.
func rest(ctx context.Context, d time.Duration) bool {
	pause, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-pause.Done()
	return ctx.Err() == nil
}

// turn begins the next turn.
func (m *monitor) turn() {
	m.tick.Add(1)
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	context.AfterFunc(ctx, cancel) // releases it; calls that end earlier have nothing to release
	m.reads.Store(&ctx)
}

// silent returns the sockets on which an answer is overdue, and whether one has been awaited for so long that the server
// itself may be silent.
func (m *monitor) silent() (overdue []*socket, suspicion bool) {
	now := m.tick.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	for s := range m.sockets {
		patience := s.patience.Load()
		switch since, waited := s.waited(now); {
		case patience == 0:
		case waited >= patience:
			overdue = append(overdue, s)
			m.generation = max(m.generation, s.generation+1)
		case waited >= ticksPerTimeout/2 && s.suspected.Swap(since) != since: // once for each answer
			suspicion = true
		}
	}
	return overdue, suspicion
}

// suspect finds out whether the server answers, unless that is being done already.
func (m *monitor) suspect(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checking || m.up.Err() != nil {
		return
	}
	m.checking = true
	m.running.Go(func() { m.check(ctx) })
}

// check finds out whether the server answers. If not it returns when it does again.
func (m *monitor) check(ctx context.Context) {
	err := m.ask(ctx)
	if err != nil && ctx.Err() == nil {
		m.disconnect(errSilent)
		m.log.ErrorContext(ctx, "PostgreSQL does not answer; calls that need it are refused until it does", "error", err)
		for rest(ctx, m.timeout/ticksPerTimeout) && m.ask(ctx) != nil {
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checking = false
	if m.up.Err() != nil && ctx.Err() == nil {
		m.up, m.fall = context.WithCancelCause(context.Background())
		m.log.InfoContext(ctx, "PostgreSQL answers again")
	}
}

// ask opens a connection past the monitor. A server that refuses it with a reason of its own answers, too.
func (m *monitor) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, m.probing)
	if _, said := errors.AsType[*pgconn.PgError](err); said {
		return nil
	}
	if err != nil {
		return err
	}
	_ = conn.Close(ctx) // it has answered
	return nil
}

// disconnect closes every socket and has calls fail with cause.
func (m *monitor) disconnect(cause error) {
	m.mu.Lock()
	if m.up.Err() != nil { // for another cause
		m.up, m.fall = context.WithCancelCause(context.Background())
	}
	m.fall(cause)
	all := m.sockets
	m.sockets = make(map[*socket]struct{})
	m.generation++
	m.mu.Unlock()
	for s := range all {
		_ = s.Conn.Close()
	}
}

// begin counts a call that needs a connection, until end, and returns the context of its read: it ends with ctx's deadline and
// after Options.Timeout, but not when ctx is cancelled, since a read is over soon. Where the call is refused the context
// has ended with the reason.
func (m *monitor) begin(ctx context.Context) context.Context {
	waiting := m.waiting.Add(1)
	if ctx.Err() != nil {
		return ctx
	}
	if err := m.down(); err != nil {
		return endedContext{ctx, err}
	}
	if waiting > m.waitingMax {
		return endedContext{ctx, errCrowded}
	}
	limit := *m.reads.Load()
	if limit.Err() != nil { // this process was stopped meanwhile
		m.turn()
		limit = *m.reads.Load()
	}
	end, _ := limit.Deadline()
	if asked, ok := ctx.Deadline(); ok && asked.Before(end) {
		return ctx
	}
	return limit
}

func (m *monitor) end() { m.waiting.Add(-1) }

// enter is begin for an update, which bounds itself.
func (m *monitor) enter() error {
	if m.waiting.Add(1) > m.waitingMax {
		return errCrowded
	}
	return m.down()
}

// down is why the server cannot be reached, or nil.
func (m *monitor) down() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return context.Cause(m.up)
}

// endedContext is a context that has ended with an error of this package's.
type endedContext struct {
	context.Context
	err error
}

// Err is the reason.
func (c endedContext) Err() error { return c.err }

// Done is closed.
func (endedContext) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
