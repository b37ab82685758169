package deploy_test

import (
	"encoding/base64"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/config"
)

// composition is what the tests read of compose.yaml.
type composition struct {
	Services map[string]struct {
		Image       string
		Build       *struct{ Context, Dockerfile string }
		Command     []string
		Environment map[string]string
		Secrets     []string
		Volumes     []string
		Healthcheck *struct{ Test []string }
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		Networks    yaml.Node
		Ports       []string
		Ulimits     map[string]int
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
	}
	Secrets  map[string]struct{ File string }
	Volumes  map[string]any
	Networks map[string]struct {
		IPAM struct {
			Config []struct{ Subnet netip.Prefix }
		}
	}
}

func compose(t *testing.T) (c composition) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, folder+"compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestComposeSettingsAreValid has the program parse the arguments and environment of each of its containers.
func TestComposeSettingsAreValid(t *testing.T) {
	secrets := map[string]string{
		"/run/secrets/key":          base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
		"/run/secrets/database_url": "postgres://gonebox:x@postgres/gonebox",
	}
	roles := make(map[string]int)
	for name, s := range compose(t).Services {
		if s.Build == nil {
			continue
		}
		var environ []string
		for key, value := range s.Environment {
			if content, ok := secrets[value]; ok {
				value = filepath.Join(t.TempDir(), "secret")
				if err := os.WriteFile(value, []byte(content+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			environ = append(environ, key+"="+value)
		}
		if len(s.Command) != 3 || s.Command[0] != "serve" || s.Command[1] != "--roles" {
			t.Fatalf("%s runs %v, want serve --roles and the roles", name, s.Command)
		}
		cfg, err := config.Load("", environ, map[string]string{"roles": s.Command[2]})
		if err != nil {
			t.Fatalf("%s: load its configuration: %v", name, err)
		}
		if cfg.Database.URL == "" || cfg.Secrets.Key == "" {
			t.Errorf("%s has the database %q and a secret: %t, want both", name, cfg.Database.URL, cfg.Secrets.Key != "")
		}
		if len(cfg.HTTP.TrustedProxies) != 1 || slices.Contains(cfg.Roles, "smtp") && len(cfg.SMTP.TrustedProxies) != 1 {
			t.Errorf("%s trusts the proxies %v for HTTP and %v for SMTP, want the balancer", name, cfg.HTTP.TrustedProxies, cfg.SMTP.TrustedProxies)
		}
		for _, role := range cfg.Roles {
			roles[role]++
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || s.Healthcheck == nil || s.Healthcheck.Test[2] != "ready" {
			t.Errorf("%s: read-only %t, without %v, checked by %v, want it read-only, without ALL, checked by gonebox ready", name, s.ReadOnly, s.CapDrop, s.Healthcheck)
		}
	}
	if roles["smtp"] != 2 || roles["api"] != 2 || roles["jobs"] != 1 {
		t.Errorf("the processes by role: %v, want smtp 2, api 2 and jobs 1", roles)
	}
}

// TestComposeReferencesExist checks that the volumes, networks and services that services refer to are declared.
func TestComposeReferencesExist(t *testing.T) {
	c, text := compose(t), read(t, folder+"compose.yaml")
	for name, s := range c.Services {
		if s.Build != nil {
			if _, err := os.Stat(filepath.Join(folder, s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s: find its Containerfile: %v", name, err)
			}
		} else if !regexp.MustCompile(`^docker\.io/library/\w+:\d`).MatchString(s.Image) {
			t.Errorf("%s has the image %s, want one of docker.io with a version", name, s.Image)
		}
		for _, secret := range s.Secrets {
			if file := c.Secrets[secret].File; file == "" || !strings.Contains(text, "> "+file+"\n") {
				t.Errorf("no comment of %s says how to make the secret %s, want > %s in it", name, secret, file)
			}
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if strings.HasPrefix(source, ".") {
				if _, err := os.Stat(filepath.Join(folder, source)); err != nil {
					t.Errorf("%s: find %s: %v", name, source, err)
				}
			} else if _, ok := c.Volumes[source]; !ok {
				t.Errorf("%s mounts the volume %s, want it declared", name, source)
			}
		}
		for other, on := range s.DependsOn {
			if on.Condition != "service_healthy" || c.Services[other].Healthcheck == nil {
				t.Errorf("%s waits for %s to be %s, want service_healthy, and a health check of it", name, other, on.Condition)
			}
		}
	}
	balancer := read(t, folder+"haproxy.cfg")
	for _, server := range regexp.MustCompile(`(?m)^    server \S+ (\S+):(\d+)`).FindAllStringSubmatch(balancer, -1) {
		if _, ok := c.Services[server[1]]; !ok || !slices.Contains([]string{"8080", "2525"}, server[2]) {
			t.Errorf("the balancer sends to %s:%s, want a service at 8080 or 2525", server[1], server[2])
		}
	}
}

// number returns the number that a pattern captures in a text.
func number(t *testing.T, pattern, text string) int {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("nothing is like %s, want a match", pattern)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// connections returns how many connections a process opens to PostgreSQL at most (docs/operating.md, PostgreSQL).
const connections = 24

// TestComposeFitsItsLimits adds up the memory and the database connections of all services.
func TestComposeFitsItsLimits(t *testing.T) {
	c, balancer := compose(t), read(t, folder+"haproxy.cfg")
	processes := 0
	for name, s := range c.Services {
		if s.Build == nil {
			continue
		}
		processes++
		if s.Ulimits["nofile"] < 65536 {
			t.Errorf("%s may open %d files, want Ulimits.nofile at least 65536", name, s.Ulimits["nofile"])
		}
	}
	if most := number(t, `max_connections=(\d+)`, strings.Join(c.Services["postgres"].Command, " ")); most < 2*processes*connections {
		t.Errorf("max_connections is %d, want at least %d for %d processes, each of which may run twice while it is replaced", most, 2*processes*connections, processes)
	}
	const spare = 100
	if files, clients := c.Services["balancer"].Ulimits["nofile"], number(t, `(?m)^    maxconn (\d+)`, balancer); files < 2*clients+spare {
		t.Errorf("the balancer may open %d files for %d clients, want at least %v", files, clients, 2*clients+spare)
	}
}

// TestComposeBalancerIsTrusted compares the balancer's address and ports with the other services' settings.
func TestComposeBalancerIsTrusted(t *testing.T) {
	c, balancer := compose(t), read(t, folder+"haproxy.cfg")
	var networks map[string]struct {
		Address netip.Addr `yaml:"ipv4_address"`
	}
	b := c.Services["balancer"]
	if err := b.Networks.Decode(&networks); err != nil {
		t.Fatal(err)
	}
	at := networks["inside"].Address
	if subnet := c.Networks["inside"].IPAM.Config[0].Subnet; !subnet.Contains(at) || at == subnet.Addr().Next() { // the first is the gateway's
		t.Errorf("the balancer's address is %s, want one in %s that is not the gateway's", at, subnet)
	}
	for name, s := range c.Services {
		for key, value := range s.Environment {
			if strings.HasSuffix(key, "_TRUSTED_PROXIES") && value != at.String()+"/32" {
				t.Errorf("%s sets %s to %s, want the balancer's %s/32", name, key, value, at)
			}
		}
	}
	for _, port := range b.Ports {
		if _, inside, _ := strings.Cut(port, ":"); !strings.Contains(balancer, "\n    bind :"+inside+"\n") {
			t.Errorf("port %s leads nowhere, want %v in it", port, "\n    bind :"+inside+"\n")
		}
	}
	if len(b.Ports) != 2 {
		t.Errorf("the balancer is reached at %v, want two ports", b.Ports)
	}
}
