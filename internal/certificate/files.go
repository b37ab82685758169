package certificate

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// checkEvery is the shortest time between two checks of whether the certificate files have changed. Handshakes do the
// checks, each of which is two calls of stat(2).
const checkEvery = 5 * time.Second

// Files provides the certificate of two PEM files. It is safe for concurrent use. The mutex guards pair, state and checked.
type Files struct {
	certPath, keyPath string
	clock             clock.Clock
	logger            *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	state   stamps
	checked time.Time
}

// NewFiles reads a certificate and its key from two PEM files. They are read again when they change, so that a renewed
// certificate needs no restart. If a changed pair cannot be read, for example because only one of the files has been
// replaced so far, the error is logged and the previous pair stays in use. NewFiles returns the error of reading the
// first pair. It starts no goroutine, since handshakes check the files.
func NewFiles(certPath, keyPath string, c clock.Clock, logger *slog.Logger) (*Files, error) {
	f := &Files{certPath: certPath, keyPath: keyPath, clock: c, logger: logger}
	f.state = f.stamp()
	if err := f.load(); err != nil {
		return nil, err
	}
	f.checked = c.Now()
	return f, nil
}

// stamps hold the size and the modification time of the certificate file and of the key file. If they differ, the files have changed.
type stamps [2]struct {
	size     int64
	modified time.Time
}

// Get returns the certificate. It ignores the name that the client sends: many mail servers send none.
func (f *Files) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.current(), nil }

// Covers reports whether the certificate is for a host name.
func (f *Files) Covers(name string) bool { return f.current().Leaf.VerifyHostname(name) == nil }

// current returns the pair, which it reads again if the files have changed.
func (f *Files) current() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.clock.Now(); now.Sub(f.checked) >= checkEvery {
		f.checked = now
		f.refresh()
	}
	return f.pair
}

// refresh reads the files if they have changed since they were last read, even if that failed: an invalid pair stays invalid until
// it changes.
func (f *Files) refresh() {
	state := f.stamp()
	if state == f.state {
		return
	}
	f.state = state
	if err := f.load(); err != nil {
		f.logger.Error("certificate not renewed", slog.Any("error", err))
		return
	}
	f.logger.Info("certificate renewed", slog.String("cert", f.certPath))
}

// load reads the pair. The caller holds the lock, except at the start.
func (f *Files) load() error {
	pair, err := tls.LoadX509KeyPair(f.certPath, f.keyPath)
	if err != nil {
		return fmt.Errorf("load certificate %s with key %s: %w", f.certPath, f.keyPath, err)
	}
	f.pair = &pair
	return nil
}

// stamp returns the stamps of the files, zero for one that is missing.
func (f *Files) stamp() (s stamps) {
	for i, path := range []string{f.certPath, f.keyPath} {
		if info, err := os.Stat(path); err == nil {
			s[i].size, s[i].modified = info.Size(), info.ModTime()
		}
	}
	return s
}
