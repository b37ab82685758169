package config_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

func TestOIDCSettings(t *testing.T) {
	for _, c := range []struct {
		name   string
		set    map[string]string
		reason string // part of the error; "": the settings are valid
	}{
		{"https", map[string]string{"oidc.issuer": "https://login.example.org/realms/team", "oidc.client_id": "box"}, ""},
		{"a slash at the end", map[string]string{"oidc.issuer": "https://login.example.org/", "oidc.client_id": "box"}, ""},
		{"http on loopback", map[string]string{"oidc.issuer": "http://127.0.0.1:5556/dex", "oidc.client_id": "box"}, ""},
		{"http on IPv6 loopback", map[string]string{"oidc.issuer": "http://[::1]:5556", "oidc.client_id": "box"}, ""},
		{"http on localhost", map[string]string{"oidc.issuer": "http://localhost:5556", "oidc.client_id": "box"}, ""},
		{"http elsewhere", map[string]string{"oidc.issuer": "http://login.example.org", "oidc.client_id": "box"}, "without TLS"},
		{"http on a private address", map[string]string{"oidc.issuer": "http://10.0.0.1", "oidc.client_id": "box"}, "without TLS"},
		{"a name like localhost", map[string]string{"oidc.issuer": "http://localhost.example.org", "oidc.client_id": "box"}, "without TLS"},
		{"no URL", map[string]string{"oidc.issuer": "login.example.org", "oidc.client_id": "box"}, "must be the URL"},
		{"a query", map[string]string{"oidc.issuer": "https://login.example.org?x=1", "oidc.client_id": "box"}, "must be the URL"},
		{"a password", map[string]string{"oidc.issuer": "https://u:p@login.example.org", "oidc.client_id": "box"}, "must be the URL"},
		{"no client", map[string]string{"oidc.issuer": "https://login.example.org"}, "oidc.client_id"},
		{"no issuer", map[string]string{"oidc.client_id": "box"}, "oidc.issuer"},
		{"groups without an issuer", map[string]string{"oidc.allow_groups": "dev"}, "oidc.issuer"},
		{"staff without an issuer", map[string]string{"oidc.staff_group": "dev"}, "oidc.issuer"},
		{"passwords off without an issuer", map[string]string{"access.password": "off"}, "oidc.issuer"},
		{"passwords off", map[string]string{"access.password": "off", "oidc.issuer": "https://login.example.org", "oidc.client_id": "box"}, ""},
	} {
		_, err := config.Load("", nil, c.set)
		if c.reason == "" && err != nil || c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)) {
			t.Errorf("Load with %s, %v: got the error %v, want one with %q", c.name, c.set, err, c.reason)
		}
	}
}

func TestLabelOfIssuer(t *testing.T) {
	for _, c := range []struct{ issuer, name, want string }{
		{"https://login.example.org:8443/realms/team", "", "login.example.org"},
		{"https://login.example.org", "Example Inc.", "Example Inc."},
	} {
		if got := (config.OIDC{Issuer: c.issuer, Name: c.name}).Label(); got != c.want {
			t.Errorf("Label of %s with the name %q: got %q, want %q", c.issuer, c.name, got, c.want)
		}
	}
}
