package system_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// Settings that make the service insecure, each with what the warning must mention.
func openSettings() map[string]struct{ value, advice string } {
	return map[string]struct{ value, advice string }{
		"metrics.addr":                   {"0.0.0.0:0", "bind"},
		"http.trusted_proxies":           {"127.0.0.1/32, 0.0.0.0/0", "X-Forwarded-For"},
		"smtp.trusted_proxies":           {"::/0", "PROXY"},
		"smtp.xclient":                   {"0.0.0.0/0", "XCLIENT"},
		"webhooks.allow_networks":        {"0.0.0.0/0", "private network"},
		"billing.bankpay.allow_networks": {"::/0, 10.0.0.0/8", "callback"},
	}
}

// The program starts and logs a warning for each: the key, the value and what to do.
func TestStartWarnsOfInsecureSettings(t *testing.T) {
	t.Parallel()
	set := make(map[string]string)
	for key, s := range openSettings() {
		set[key] = s.value
	}
	set["log.format"] = "json"
	s := start(t, options{set: set})
	warned := func() map[string]int {
		seen := make(map[string]int)
		for line := range strings.Lines(s.proc.err.String()) {
			var l struct{ Level, Msg, Key, Value, Advice string }
			if json.Unmarshal([]byte(line), &l) != nil || l.Level != "WARN" {
				continue
			}
			if want, ok := openSettings()[l.Key]; ok && l.Value == want.value && strings.Contains(l.Advice, want.advice) {
				seen[l.Key]++
			}
		}
		return seen
	}
	await(t, "a warning of each setting", func() bool { return len(warned()) == len(openSettings()) })
	for key, n := range warned() {
		if n != 1 {
			t.Errorf("%s was warned of %d times, want 1", key, n)
		}
	}
}

// The command that prints the configuration prints the same warnings.
func TestConfigCommandWarnsOfInsecureSettings(t *testing.T) {
	t.Parallel()
	args := []string{"config"}
	for key, s := range openSettings() {
		args = append(args, "--set", key+"="+s.value)
	}
	code, out, err := command(t, args...)
	if code != 0 || strings.Contains(out, "warning") {
		t.Errorf("gonebox config with insecure settings: exit status %d, want 0 and no warning in the output:\n%s", code, out)
	}
	for key, s := range openSettings() {
		if !strings.Contains(err, "gonebox: warning: "+key+` = "`+s.value+`": `) {
			t.Errorf("no warning of %s: %s, want %v in it", key, err, "gonebox: warning: "+key+` = "`+s.value+`": `)
		}
	}
	if _, _, err := command(t, "config", "--set", "metrics.addr=127.0.0.1:9090", "--set", "http.trusted_proxies=10.0.0.0/8"); err != "" {
		t.Errorf("gonebox config with secure settings warns of %s, want no warning", err)
	}
}
