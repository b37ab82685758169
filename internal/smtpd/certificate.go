package smtpd

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

// CertificateFiles returns a TLS configuration with the certificate of two PEM files, which are read again when they
// change, so that a renewed certificate needs no restart. If a changed pair cannot be read, for example because only one
// of the files has been replaced so far, the error is logged and the previous pair stays in use. It returns the error of
// reading the first pair. It starts no goroutine, since handshakes check the files.
func CertificateFiles(certPath, keyPath string, c clock.Clock, logger *slog.Logger) (*tls.Config, error) {
	f := &certificateFiles{certPath: certPath, keyPath: keyPath, clock: c, logger: logger}
	f.state = f.stamp()
	if err := f.load(); err != nil {
		return nil, err
	}
	f.checked = c.Now()
	return &tls.Config{
		MinVersion:     tls.VersionTLS12, // RFC 8996
		GetCertificate: f.certificate,
	}, nil
}

// certificateFiles provides the certificate of two files. The mutex guards pair, state and checked.
type certificateFiles struct {
	certPath, keyPath string
	clock             clock.Clock
	logger            *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	state   stamps
	checked time.Time
}

// stamps hold the size and the modification time of the certificate file and of the key file. If they differ, the files have changed.
type stamps [2]struct {
	size     int64
	modified time.Time
}

// certificate ignores the name that the client sends: many mail servers send none.
func (f *certificateFiles) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.clock.Now(); now.Sub(f.checked) >= checkEvery {
		f.checked = now
		f.refresh()
	}
	return f.pair, nil
}

// refresh reads the files if they have changed since they were last read, even if that failed: an invalid pair stays invalid until
// it changes.
func (f *certificateFiles) refresh() {
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
func (f *certificateFiles) load() error {
	pair, err := tls.LoadX509KeyPair(f.certPath, f.keyPath)
	if err != nil {
		return fmt.Errorf("load certificate %s with key %s: %w", f.certPath, f.keyPath, err)
	}
	f.pair = &pair
	return nil
}

// stamp returns the stamps of the files, zero for one that is missing.
func (f *certificateFiles) stamp() (s stamps) {
	for i, path := range []string{f.certPath, f.keyPath} {
		if info, err := os.Stat(path); err == nil {
			s[i].size, s[i].modified = info.Size(), info.ModTime()
		}
	}
	return s
}
