package config_test

import (
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

func TestWarningsListSettingsThatOpenTheService(t *testing.T) {
	for _, c := range []struct {
		key, value string
		open       bool
	}{
		{"metrics.addr", "", false},
		{"metrics.addr", "127.0.0.1:9090", false},
		{"metrics.addr", "[::1]:9090", false},
		{"metrics.addr", "10.1.2.3:9090", false},
		{"metrics.addr", "[fd00::1]:9090", false},
		{"metrics.addr", "metrics.internal:9090", false},
		{"metrics.addr", ":9090", true},
		{"metrics.addr", "0.0.0.0:9090", true},
		{"metrics.addr", "[::]:9090", true},
		{"metrics.addr", "203.0.113.7:9090", true},
		{"http.trusted_proxies", "10.0.0.0/8, 172.16.0.0/12", false},
		{"http.trusted_proxies", "10.0.0.0/8, 0.0.0.0/0", true},
		{"http.trusted_proxies", "::ffff:0:0/96", true},
		{"smtp.trusted_proxies", "::/0", true},
		{"smtp.xclient", "127.0.0.1/32", false},
		{"smtp.xclient", "127.0.0.1/32, 0.0.0.0/0", true},
		{"webhooks.allow_networks", "127.0.0.0/8", false},
		{"webhooks.allow_networks", "::/0", true},
		{"billing.bankpay.allow_networks", "0.0.0.0/0", true},
	} {
		cfg, err := config.Load("", nil, map[string]string{c.key: c.value})
		if err != nil {
			t.Errorf("Load with %s = %s: %v", c.key, c.value, err)
			continue
		}
		got := slices.ContainsFunc(cfg.Warnings(), func(w config.Warning) bool {
			return w.Key == c.key && w.Value != "" && w.Advice != ""
		})
		if got != c.open || len(cfg.Warnings()) > 1 {
			t.Errorf("Load with %s = %s warns of %s, want at most one warning, and one if the setting is insecure: %t", c.key, c.value, cfg.Warnings(), c.open)
		}
	}
}
