package app

import (
	"log/slog"
	"sync"
	"time"
)

// Bounds of the lines in the log that clients cause, so that a flood does not fill its disk: some 600 KB a minute.
const (
	// A window begins with the first line after the end of the one before, for all clients at once.
	linesWindow    = time.Minute
	linesPerClient = 300     // in a window
	linesInTotal   = 3000    // in a window
	linesClients   = 1 << 14 // clients that are counted; further ones share a count
)

// sampler decides which of the lines that name a client are logged. It is safe for concurrent use.
type sampler struct {
	mu         sync.Mutex     // guards all fields
	begun      time.Time      // when the window began, by the time of its first line
	total      int            // lines logged in the window
	suppressed int            // lines since the last one that said so
	clients    map[string]int // lines logged in the window, by client; "" is all clients beyond linesClients
}

func newSampler() *sampler { return &sampler{clients: make(map[string]int)} }

// allow reports whether a line of a client is logged at a time, and, if so, how many lines of all clients were dropped
// since the last one that was logged.
func (s *sampler) allow(client string, at time.Time) (suppressed int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since := at.Sub(s.begun); since >= linesWindow || since < 0 {
		s.begun, s.total = at, 0
		clear(s.clients)
	}
	if _, known := s.clients[client]; !known && len(s.clients) >= linesClients {
		client = ""
	}
	if s.total >= linesInTotal || s.clients[client] >= linesPerClient {
		s.suppressed++
		return 0, false
	}
	s.total++
	s.clients[client]++
	suppressed, s.suppressed = s.suppressed, 0
	return suppressed, true
}

// clientOf returns the value of the attribute client of a line. It is empty for a line without one, and for lines that
// are never dropped: those that debugging asked for, and those that report an error of this server.
func clientOf(r slog.Record) (client string) {
	if r.Level < slog.LevelInfo || r.Level >= slog.LevelError {
		return ""
	}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "client" {
			client = a.Value.String()
		}
		return client == ""
	})
	return client
}
