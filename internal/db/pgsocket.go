package db

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// socket is a connection to the server that its monitor watches.
type socket struct {
	net.Conn
	monitor    *monitor
	generation int64

	patience  atomic.Int64 // turns of the monitor that an answer may take; 0: the monitor does not mind
	reading   atomic.Int64 // the turn in which the Read began that has not returned; 0: there is none
	writing   atomic.Int64 // likewise of Write
	suspected atomic.Int64 // the turn in which the wait began that raised suspicion
}

// dialerFor is what a driver's configuration takes to open sockets on which an answer may take as long as patience; 0: for ever.
func (m *monitor) dialerFor(patience time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	turns := m.turns(patience)
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
		return m.add(conn, turns)
	}
}

// turns is a time as the monitor counts it.
func (m *monitor) turns(d time.Duration) int64 { return int64(d * ticksPerTimeout / m.timeout) }

// add watches a connection.
func (m *monitor) add(conn net.Conn, patience int64) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if down := context.Cause(m.up); down != nil {
		_ = conn.Close()
		return nil, down
	}
	s := &socket{Conn: conn, monitor: m, generation: m.generation}
	s.patience.Store(patience)
	m.sockets[s] = struct{}{}
	return s, nil
}

// Read reads what the server sends. The driver calls it only where it expects something.
func (s *socket) Read(b []byte) (int, error) {
	s.reading.Store(s.monitor.tick.Load())
	defer s.reading.Store(0)
	return s.Conn.Read(b)
}

// Write sends.
func (s *socket) Write(b []byte) (int, error) {
	s.writing.Store(s.monitor.tick.Load())
	defer s.writing.Store(0)
	return s.Conn.Write(b)
}

// Close closes the connection. The monitor may have done so before.
func (s *socket) Close() error {
	s.monitor.mu.Lock()
	delete(s.monitor.sockets, s)
	s.monitor.mu.Unlock()
	if err := s.Conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// waited tells in which turn the wait for the server began that goes on, and how many turns ago; 0: nothing is awaited.
func (s *socket) waited(now int64) (since, turns int64) {
	for _, began := range []int64{s.reading.Load(), s.writing.Load()} {
		if began > 0 && now-began > turns {
			since, turns = began, now-began
		}
	}
	return since, turns
}

// socketOf is the socket below a connection of the driver's.
func socketOf(conn *pgx.Conn) *socket {
	below := conn.PgConn().Conn()
	if encrypted, ok := below.(interface{ NetConn() net.Conn }); ok {
		below = encrypted.NetConn()
	}
	return below.(*socket)
}

// outdated reports whether a connection is older than one that the server did not answer on.
func (m *monitor) outdated(conn *pgx.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return socketOf(conn).generation < m.generation
}
