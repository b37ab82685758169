package db

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// socket is a monitored connection to the server.
type socket struct {
	net.Conn
	monitor    *monitor
	generation int64

	limit     atomic.Int64 // number of ticks that an answer may take; 0: no limit
	reading   atomic.Int64 // the tick in which the current Read began; 0: none
	writing   atomic.Int64 // likewise for Write
	suspected atomic.Int64 // the tick in which the wait began that last caused a probe
}

// dialerFor returns a dial function for sockets on which an answer may take at most limit; 0: no limit.
func (m *monitor) dialerFor(limit time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	ticks := m.ticks(limit)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		m.mu.Lock()
		up := m.up
		m.mu.Unlock()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(up, cancel)()
		conn, err := m.dialer.DialContext(ctx, network, address)
		if down := context.Cause(up); down != nil {
			if conn != nil {
				_ = conn.Close()
			}
			return nil, down
		}
		if err != nil {
			return nil, err
		}
		return m.add(conn, ticks)
	}
}

// ticks converts a duration to ticks.
func (m *monitor) ticks(d time.Duration) int64 { return int64(d * ticksPerTimeout / m.timeout) }

// add adds a connection to the monitor.
func (m *monitor) add(conn net.Conn, limit int64) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if down := context.Cause(m.up); down != nil {
		_ = conn.Close()
		return nil, down
	}
	s := &socket{Conn: conn, monitor: m, generation: m.generation}
	s.limit.Store(limit)
	m.sockets[s] = struct{}{}
	return s, nil
}

// Read implements net.Conn. The driver calls it only while it waits for an answer.
func (s *socket) Read(b []byte) (int, error) {
	s.reading.Store(s.monitor.tick.Load())
	defer s.reading.Store(0)
	return s.Conn.Read(b)
}

// Write implements net.Conn.
func (s *socket) Write(b []byte) (int, error) {
	s.writing.Store(s.monitor.tick.Load())
	defer s.writing.Store(0)
	return s.Conn.Write(b)
}

// Close closes the connection, which the monitor may have closed before.
func (s *socket) Close() error {
	s.monitor.mu.Lock()
	delete(s.monitor.sockets, s)
	s.monitor.mu.Unlock()
	if err := s.Conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// waited returns the tick in which the current wait for the server began, and for how many ticks it has lasted; 0 without a wait.
func (s *socket) waited(now int64) (since, ticks int64) {
	for _, began := range []int64{s.reading.Load(), s.writing.Load()} {
		if began > 0 && now-began > ticks {
			since, ticks = began, now-began
		}
	}
	return since, ticks
}

// socketOf returns the socket of a connection, below TLS.
func socketOf(conn *pgx.Conn) *socket {
	below := conn.PgConn().Conn()
	if encrypted, ok := below.(interface{ NetConn() net.Conn }); ok {
		below = encrypted.NetConn()
	}
	return below.(*socket)
}

// isOutdated reports whether a connection was opened before the server was last found not to respond.
func (m *monitor) isOutdated(conn *pgx.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return socketOf(conn).generation < m.generation
}
