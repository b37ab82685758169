package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

func TestDevProfileChangesDefaults(t *testing.T) {
	for _, source := range []func() (*config.Config, error){
		func() (*config.Config, error) { return config.Load("", nil, map[string]string{"profile": "dev"}) },
		func() (*config.Config, error) { return config.Load("", []string{"GONEBOX_PROFILE=dev"}, nil) },
		func() (*config.Config, error) { return config.Load(yamlFile(t, "profile: dev\n"), nil, nil) },
	} {
		c, err := source()
		if err != nil {
			t.Fatal(err)
		}
		if !c.IsDev() || c.HTTP.Addr != ":8080" || c.SMTP.Addr != ":1025" || c.Compat.Mailpit.Addr != ":8025" || c.SMTP.Auth != "accept_any" ||
			strings.Join(c.SMTP.Sink.Domains, " ") != "*" || c.SMTP.Sink.Account != config.DevAccount {
			t.Errorf("the profile dev sets %+v and %+v, want :8080, :1025 and :8025, any SMTP user, and the sink of %s for all domains", c.SMTP, c.Compat, config.DevAccount)
		}
	}
	c, err := config.Load(yamlFile(t, "profile: dev\nsmtp:\n  addr: 127.0.0.1:2626\n"), []string{"GONEBOX_PROFILE=standard"}, nil)
	if err != nil || c.IsDev() || c.SMTP.Addr != "127.0.0.1:2626" || c.SMTP.Auth != "off" || c.Compat.Mailpit.Addr != "" {
		t.Errorf("Load with a profile from the environment = %+v, %v, want standard, the address of the file, and neither SMTP users nor Mailpit's API", c, err)
	}
	c, err = config.Load("", nil, map[string]string{"profile": "dev", "smtp.addr": ":2525", "smtp.sink.domains": "company.test"})
	if err != nil || c.SMTP.Addr != ":2525" || strings.Join(c.SMTP.Sink.Domains, " ") != "company.test" {
		t.Errorf("Load with the profile dev and two settings = %+v, %v, want these settings instead of the profile's", c, err)
	}
}

// A service that speaks HTTPS itself, with a certificate for localhost, is no public one.
func TestDevProfileAllowsOwnHTTPS(t *testing.T) {
	for base, want := range map[string]bool{"https://localhost:8443": true, "https://app.localhost:8443": true, "https://192.168.1.5": true, "https://box.example.org": false, "https://203.0.113.9": false} {
		_, err := config.Load("", nil, map[string]string{"profile": "dev", "http.tls.cert": "c", "http.tls.key": "k", "base_url": base})
		if (err == nil) != want {
			t.Errorf("Load with profile dev, http.tls and base_url %s: got %v, want it allowed: %v", base, err, want)
		}
	}
}

func TestDevProfileRefusesPublicAddresses(t *testing.T) {
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{"base_url", "https://localhost:8080", false},
		{"base_url", "http://box.example.org", false},
		{"base_url", "http://BOX.example.org.:80", false},
		{"base_url", "http://203.0.113.9:8080", false},
		{"base_url", "http://[2001:db8::1]:8080", false},
		{"base_url", "http://localhost:9999", true},
		{"base_url", "http://box.localhost:8080", true},
		{"base_url", "http://gonebox:8080", true},
		{"base_url", "http://192.168.1.5:8080", true},
		{"base_url", "http://[::1]:8080", true},
		{"http.addr", "203.0.113.9:8080", false},
		{"http.addr", "0.0.0.0:8080", true},
		{"http.addr", "[::]:8080", true},
		{"http.addr", "127.0.0.1:8080", true},
		{"http.addr", "10.0.0.1:8080", true},
		{"http.addr", "localhost:8080", true},
		{"smtp.addr", "[2001:db8::1]:25", false},
		{"smtp.addr", "mx.example.org:25", false},
		{"smtp.tls.addr", "198.51.100.1:465", false},
		{"metrics.addr", "198.51.100.1:9090", false},
		{"compat.mailpit.addr", "198.51.100.1:8025", false},
		{"compat.mailpit.addr", "", true},
		{"http.tls.acme.hosts", "box.example.org", false},
	} {
		set := map[string]string{"profile": "dev", c.key: c.value}
		if _, err := config.Load("", nil, set); (err == nil) != c.ok {
			t.Errorf("Load with %s = %q: %v, want success: %t", c.key, c.value, err, c.ok)
		} else if err != nil && !strings.Contains(err.Error(), c.key) {
			t.Errorf("Load with %s = %q: %v, want the key in the error", c.key, c.value, err)
		}
	}
}

func TestSinkSettingsAreChecked(t *testing.T) {
	for _, c := range []struct {
		set string
		ok  bool
	}{
		{"smtp.sink.domains=company.test", false}, // without an account
		{"smtp.sink.domains=* smtp.sink.account=a@example.org", true},
		{"smtp.sink.domains=app,company.test smtp.sink.account=a@example.org", true},
		{"smtp.sink.domains=*.test smtp.sink.account=a@example.org", false},
		{"smtp.sink.domains=Company.test smtp.sink.account=a@example.org", false},
		{"smtp.sink.ttl=7d", true},
		{"smtp.sink.ttl=367d", false},
		{"smtp.sink.mailboxes=0", false},
		{"smtp.auth=any", false},
		{"dev.key=x_short", false},
		{"compat.mailpit.addr=:8080", false}, // http.addr
	} {
		set := map[string]string{}
		for assignment := range strings.FieldsSeq(c.set) {
			key, value, _ := strings.Cut(assignment, "=")
			set[key] = value
		}
		if _, err := config.Load("", nil, set); (err == nil) != c.ok {
			t.Errorf("Load with %s: %v, want success: %t", c.set, err, c.ok)
		}
	}
}

// yamlFile writes a configuration file and returns its path.
func yamlFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gonebox.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
