package config_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

func TestDialAddr(t *testing.T) {
	for addr, want := range map[string]string{":80": "localhost:80", "0.0.0.0:80": "localhost:80", "[::]:80": "localhost:80", "192.0.2.1:80": "192.0.2.1:80"} {
		if got := config.DialAddr(addr); got != want {
			t.Errorf("DialAddr(%q) = %q, want %q", addr, got, want)
		}
	}
}
