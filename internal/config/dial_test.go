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

func TestURLOfTheService(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		port string
		want string
	}{
		{nil, "8081", "http://localhost:8081"},
		{map[string]string{"base_url": "https://box.example.org"}, "8081", "https://box.example.org"},
		{map[string]string{"http.tls.cert": "c", "http.tls.key": "k"}, "8443", "https://localhost:8443"},
		{map[string]string{"http.tls.acme.hosts": "box.example.org, mx.example.org"}, "443", "https://box.example.org"},
		{map[string]string{"http.tls.acme.hosts": "box.example.org"}, "8443", "https://box.example.org:8443"},
	} {
		cfg, err := config.Load("", nil, c.set)
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.URL(c.port); got != c.want {
			t.Errorf("with %v: URL(%q) = %q, want %q", c.set, c.port, got, c.want)
		}
	}
}
