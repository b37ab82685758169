package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

func TestServiceLinksOfKubernetesArePassedOver(t *testing.T) {
	for _, service := range []string{"", "SMTP_", "MAIL_BOX_2_", "PORT_"} {
		for variable, passed := range map[string]bool{
			"SERVICE_HOST=10.96.0.7": true, "SERVICE_PORT=8080": true, "SERVICE_PORT_HTTP=8080": true, "SERVICE_PORT_SMTP_TLS=465": true,
			"PORT=tcp://10.96.0.7:8080": true, "PORT=udp://10.96.0.7:53": true, "PORT_8080_TCP=tcp://10.96.0.7:8080": true, "PORT_8080_TCP_PROTO=tcp": true, "PORT_8080_TCP_PORT=8080": true,
			"PORT_8080_TCP_ADDR=10.96.0.7": true, "PORT_53_UDP=udp://10.96.0.7:53": true, "PORT_5_SCTP_ADDR=fd00::7": true,
			"PORT=8080": false, "PORT=": false, "PORT=:8080": false, "PORT=http://10.96.0.7:8080": false, "PORT=xtcp://10.96.0.7": false, "SERVICE_HOSTS=x": false, "SERVICE_PORTS=1": false, "SERVICE=x": false,
			"PORT_8080=8080": false, "PORT_8080_TLS=x": false, "PORT_8080_TCP_NAME=x": false, "PORT_HTTP_TCP=x": false, "PORT_8080_TCP_PORT_X=1": false, "PORTS=tcp://10.96.0.7": false, "service_host=x": false, "SERVICE_HOST_=x": false, "SERVICE_PORT__=1": false, "SERVICE_PORT_HTTP_=1": false, "_SERVICE_HOST=x": false, "X__SERVICE_HOST=x": false, "X__PORT=tcp://10.96.0.7:80": false,
			"X__Y_SERVICE_HOST=10.96.0.7": true, "PORT=sctp://10.96.0.7:80": false, "PORT=TCP://10.96.0.7:80": false, "PORT_123456_TCP=x": false,
		} {
			variable = "GONEBOX_" + service + variable
			_, err := config.Load("", []string{variable}, nil)
			if name, _, _ := strings.Cut(variable, "="); (err == nil) != passed || err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("Load with %s: %v, want it passed over: %t", variable, err, passed)
			}
		}
	}
	c, err := config.Load("", []string{"GONEBOX_SERVICE_HOST=10.96.0.7", "GONEBOX_HTTP_ADDR=:9", "GONEBOX_PORT=tcp://10.96.0.7:8080"}, nil)
	if err != nil || c.HTTP.Addr != ":9" {
		t.Errorf("Load with service links and GONEBOX_HTTP_ADDR=:9: %+v, %v; want the address", c, err)
	}
}

// No key has a variable that is taken for a service link, whatever its value.
func TestNoKeyIsAServiceLink(t *testing.T) {
	for key, name := range config.Keys() {
		if config.IsServiceLink(name, "tcp://10.96.0.7:8080") {
			t.Errorf("IsServiceLink(%s) = true, want false for the variable of %s", name, key)
		}
	}
}

// FuzzServiceLink compares isServiceLink with the same forms read by hand, and checks that a variable that is not one is an error that
// names it, or that of a key.
func FuzzServiceLink(f *testing.F) {
	for _, seed := range [][2]string{
		{"GONEBOX_SERVICE_HOST", "10.96.0.7"},
		{"GONEBOX_MAIL_BOX_SERVICE_PORT_SMTP_TLS", "465"},
		{"GONEBOX_PORT", "tcp://10.96.0.7:8080"},
		{"GONEBOX_PORT", "8080"},
		{"GONEBOX_X__Y_PORT", "udp://[fd00::7]:53"},
		{"GONEBOX_PORT_8080_TCP_ADDR", "10.96.0.7"},
		{"GONEBOX_PORT_99999_SCTP", ""},
		{"GONEBOX_PORT_PORT_1_UDP_PROTO", "udp"},
		{"GONEBOX__SERVICE_HOST", "x"},
		{"GONEBOX_HTTP_ADDR", ":1"},
		{"GONEBOX_SERVICE_PORT_", "1"},
		{"GONEBOX_PORT_8080_TCP_NAME", "x"},
		{"GONEBOX_SERVICE_HOST\n", "x"},
	} {
		f.Add(seed[0], seed[1])
	}
	keys := make(map[string]bool)
	for _, name := range config.Keys() {
		keys[name] = true
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		got, want := config.IsServiceLink(name, value), isLinkByHand(name, value)
		if got != want {
			t.Fatalf("IsServiceLink(%q, %q) = %t, want %t", name, value, got, want)
		}
		if got && keys[name] {
			t.Fatalf("IsServiceLink(%q, %q) = true, want false for the variable of a key", name, value)
		}
		key, isKey := strings.CutSuffix(name, "_FILE")
		clients := []string{"GONEBOX_CONFIG", "GONEBOX_URL", "GONEBOX_KEY", "GONEBOX_BIN", "GONEBOX_BINARY", "GONEBOX_SMTP"}
		isKey = keys[name] || isKey && keys[key] || slices.Contains(clients, name)
		if isKey || !strings.HasPrefix(name, "GONEBOX_") || strings.Contains(name, "=") {
			return // Load takes it, or never sees it
		}
		_, err := config.Load("", []string{name + "=" + value}, nil)
		if (err == nil) != got {
			t.Errorf("Load with %s=%s: error %v, want one unless it is a service link (%t)", name, value, err, got)
		}
		if err != nil {
			checkLines(t, err)
		}
	})
}

// isLinkByHand reads the forms of service links with whatever service in front.
func isLinkByHand(name, value string) bool {
	rest, ours := strings.CutPrefix(name, "GONEBOX_")
	if !ours {
		return false
	}
	for i := range len(rest) {
		if i == 0 || rest[i-1] == '_' && isLinkName(rest[:i-1]) {
			if isLinkForm(rest[i:], value) {
				return true
			}
		}
	}
	return false
}

// isLinkForm reads a form without a service in front.
func isLinkForm(form, value string) bool {
	switch form {
	case "SERVICE_HOST", "SERVICE_PORT":
		return true
	case "PORT":
		return strings.HasPrefix(value, "tcp://") || strings.HasPrefix(value, "udp://")
	}
	if port, ok := strings.CutPrefix(form, "SERVICE_PORT_"); ok {
		return isLinkName(port)
	}
	rest, ok := strings.CutPrefix(form, "PORT_")
	parts := strings.Split(rest, "_")
	if !ok || len(parts) < 2 || len(parts) > 3 || parts[0] == "" || len(parts[0]) > 5 || strings.Trim(parts[0], "0123456789") != "" {
		return false
	}
	return slices.Contains([]string{"TCP", "UDP", "SCTP"}, parts[1]) && (len(parts) == 2 || slices.Contains([]string{"PROTO", "PORT", "ADDR"}, parts[2]))
}

// isLinkName reports whether Kubernetes may have made a name in capitals of that of a service or a port.
func isLinkName(name string) bool {
	return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && !strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "_")
}
