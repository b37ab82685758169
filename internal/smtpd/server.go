package smtpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Server is an SMTP server. New creates one. Its methods may be called by any goroutine.
type Server struct {
	cfg        Config
	in         Inbound
	hello      hello
	relayHello hello       // for Config.Relays
	wall       clock.Clock // the system's clock, for deadlines of sockets and for durations, even where a test replaces Config.Clock

	base   context.Context // of the Inbound's calls; cancelled when Shutdown runs out of time
	cancel context.CancelFunc

	connections *ratelimit.Gauge // of each client, in this process
	recipients  *recipients

	// mu guards draining, listeners and sessions.
	mu        sync.Mutex
	draining  bool          // Shutdown was called: nothing new is accepted
	stopped   chan struct{} // closed when draining begins
	listeners map[net.Listener]struct{}
	sessions  map[*session]struct{}
	running   sync.WaitGroup // the sessions
	idle      chan *session  // to goroutines whose sessions have ended
	waiting   atomic.Int32   // how many of those there are
}

// New returns a server that delivers to in. It starts no goroutine; Serve does.
func New(cfg Config, in Inbound) *Server {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg:         cfg,
		in:          in,
		hello:       newHello(cfg, false),
		relayHello:  newHello(cfg, true),
		wall:        clock.System(),
		connections: ratelimit.NewGauge(),
		recipients:  newRecipients(cfg.RefusedRecipients, cfg.Clock),
		stopped:     make(chan struct{}),
		listeners:   make(map[net.Listener]struct{}),
		sessions:    make(map[*session]struct{}),
		idle:        make(chan *session),
	}
	s.base, s.cancel = context.WithCancel(context.WithoutCancel(cfg.Context))
	return s
}

// Serve accepts connections from l until Shutdown, and then returns nil; the sessions may continue until Shutdown
// returns. Other errors are those of the listener. It closes l. Several listeners may be served at the same time.
func (s *Server) Serve(l net.Listener) error { return s.serve(l, false) }

// ServeTLS is Serve for clients that speak TLS from the first octet (RFC 8314 §3.3). It needs Config.TLS.
func (s *Server) ServeTLS(l net.Listener) error { return s.serve(l, true) }

// serve is Serve, or ServeTLS if secure is true.
func (s *Server) serve(l net.Listener, secure bool) error {
	l = s.proxied(l)
	if !s.listen(l) {
		return l.Close()
	}
	defer s.unlisten(l)
	var pause time.Duration
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(conn, secure)
		case s.isDraining():
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		default: // out of file descriptors, or the client has already disconnected: both are temporary
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.cfg.Logger.Error("smtp accept failed", slog.Any("error", err), slog.Duration("pause", pause))
			s.sleep(pause)
		}
	}
}

// Shutdown stops accepting connections and drains the sessions (docs/spec/running.md#shutdown). A session that waits
// for a command gets 421 4.3.2 at once, one that receives or delivers a message after the reply to it. Shutdown
// returns nil when all sessions have ended. When ctx ends before that, it closes the remaining connections, cancels
// the context of the Inbound's calls and returns the error of ctx, without waiting for the goroutines of the sessions.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain()
	defer s.cancel()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		s.cancel()
		s.closeAll()
		return ctx.Err()
	}
}

// drain closes the listeners and interrupts the sessions that wait for a command. Later calls do nothing.
func (s *Server) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return
	}
	s.draining = true
	close(s.stopped)
	for l := range s.listeners {
		_ = l.Close() // an error has no consequence
	}
	for ss := range s.sessions {
		ss.wire.interrupt()
	}
}

// closeAll closes the connections of all sessions.
func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss := range s.sessions {
		_ = ss.wire.raw.Close() // ends the session's read or write
	}
}

// start starts a session on a goroutine, one whose session has just ended if there is one. If the server is draining it closes the
// connection instead. The check and the registration are under one lock, so that Shutdown misses no session.
func (s *Server) start(conn net.Conn, secure bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		_ = conn.Close()
		return
	}
	ss := newSession(s, conn)
	ss.secure = secure
	s.sessions[ss] = struct{}{}
	s.running.Add(1)
	select {
	case s.idle <- ss:
	default:
		go s.runSessions(ss)
	}
}

// maxIdle is how many goroutines wait for another session. The stack of a new goroutine grows four times while it delivers a mail, which
// takes 3 % of the processor time of a mail on a connection of its own. The garbage collector shrinks those of goroutines that only wait.
const maxIdle = 64

// runSessions runs a session, and then others, one after another.
func (s *Server) runSessions(ss *session) {
	for {
		ss.run()
		s.forget(ss)
		s.running.Done()
		if ss = s.nextSession(); ss == nil {
			return
		}
	}
}

// nextSession waits for a session to run. It returns nil if enough goroutines wait, and when the server is draining.
func (s *Server) nextSession() *session {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > maxIdle {
		return nil
	}
	select {
	case ss := <-s.idle:
		return ss
	case <-s.stopped:
		return nil
	}
}

// forget removes a session that has ended.
func (s *Server) forget(ss *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ss)
}

// listen registers a listener, which Shutdown then closes. It returns false if the server is draining.
func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

// unlisten closes a listener that is no longer served.
func (s *Server) unlisten(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	_ = l.Close()
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// sleep waits for d or until Shutdown.
func (s *Server) sleep(d time.Duration) {
	timer := s.wall.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.stopped:
	}
}
