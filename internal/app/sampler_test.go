package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/config"
)

// Lines that name a client are bounded for each client and in total, and the next one says how many were left out.
func TestFloodDoesNotFillTheLog(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(config.Log{Format: "json", Level: slog.LevelInfo}, &out).With("part", "x")
	for range 10 * linesPerClient {
		log.Info("recipient refused", "client", "192.0.2.1")
	}
	if n := strings.Count(out.String(), "\n"); n != linesPerClient {
		t.Errorf("%d lines of one client, want %v", n, linesPerClient)
	}
	log.Info("recipient refused", "client", "192.0.2.2")
	if want := fmt.Sprintf(`"suppressed":%d}`, 9*linesPerClient); !strings.Contains(out.String(), want) {
		t.Errorf("the log is\n%s\nwant the line of the second client to count %s", out.String(), want)
	}
	for i := range 10 * linesInTotal {
		log.Warn("request", "client", fmt.Sprintf("198.51.%d.%d", i/250, i%250))
	}
	if n := strings.Count(out.String(), "\n"); n != linesInTotal {
		t.Errorf("%d lines of all clients, want %v", n, linesInTotal)
	}
	log.Info("ready")
	log.Error("call failed", "client", "192.0.2.1")
	if !strings.Contains(out.String(), `"ready"`) || !strings.Contains(out.String(), `"call failed"`) {
		t.Errorf("the log is\n%s\nwant the line without a client and the error in it, whatever was logged before", out.String())
	}
}

func TestSamplerBeginsAnewAfterItsWindow(t *testing.T) {
	s, at := newSampler(), time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for range linesPerClient + 5 {
		s.allow("a", at)
	}
	if _, ok := s.allow("a", at.Add(linesWindow-1)); ok {
		t.Errorf("allow(a) at the end of the window, after %d lines, is true, want false", linesPerClient+5)
	}
	if n, ok := s.allow("a", at.Add(linesWindow)); !ok || n != 6 {
		t.Errorf("allow(a) in the next window = %d, %t, want 6 suppressed lines and true", n, ok)
	}
	if _, ok := s.allow("a", at); !ok {
		t.Error("allow(a) after the clock was set back is false, want true")
	}
}
