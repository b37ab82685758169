package app

import (
	"log/slog"
	"sync"
	"time"
)

// Bounds of the lines in the log that clients cause, so that a flood does not fill its disk: some 600 KB a minute.
const (
	linesWindow    = time.Minute
	linesPerClient = 300     // in a window
	linesInTotal   = 3000    // in a window
	linesClients   = 1 << 14 // clients that are counted; further ones share a count
)

// sampler decides which of the lines that name a client are logged.
type sampler struct {
	mu         sync.Mutex
	begun      time.Time
	total      int
	suppressed int // lines since the last one that said so
	clients    map[string]int
}

func newSampler() *sampler { return &sampler{clients: make(map[string]int)} }

// allow reports whether a line of a client is logged, and how many lines of all clients were not since the last one.
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

// clientOf returns the client that a line names in its attribute client; "": none, or a line that debugging asked for or that reports an
// error of this server.
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
