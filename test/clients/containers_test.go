package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/token"
)

// containerKey is the developer key that the helpers for containers give the service.
const containerKey = "x_hgj79ngfrz_trbU7JHG2k5NV41q1En5Fw6Bq0BYxP8w5TyuYY0U3cI2uHePp"

// reached is what the programs of testdata/containers print.
type reached struct {
	URL, SMTP, SMTPHost, SMTPPort, Mailpit, Key, Code string
	Total                                             int
}

// The helpers for Testcontainers start the image with the profile dev, publish its three ports, and return where it is once it is
// ready.
func TestContainers(t *testing.T) {
	binary := apptest.Program(t)
	for _, language := range []struct {
		name  string
		start func(t *testing.T) func(environ []string, image, key string) string
	}{
		{"TypeScript", typeScriptContainers},
		{"Go", goContainers},
	} {
		t.Run(language.name, func(t *testing.T) {
			start := language.start(t)
			other := token.DeveloperFrom([32]byte{1})
			for _, c := range []struct{ image, key, wantImage, wantKey string }{
				{"", "", "ghcr.io/gonebox/gonebox:latest", containerKey},
				{"registry.example/mail/gonebox:0.1.0", other, "registry.example/mail/gonebox:0.1.0", other},
			} {
				e := startEngine(t, binary)
				out := start(e.environ(), c.image, c.key)
				var got reached
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatalf("start a container of %q: %v\n%s", c.image, err, out)
				}
				e.check(t, c.wantImage, c.wantKey)
				const host = "127.0.0.1" // of DOCKER_HOST
				ports := e.container.mapped
				want := reached{
					URL: "http://" + host + ":" + ports["8080/tcp"], SMTP: host + ":" + ports["1025/tcp"], SMTPHost: host, SMTPPort: ports["1025/tcp"],
					Mailpit: "http://" + host + ":" + ports["8025/tcp"], Key: c.wantKey, Code: "246810", Total: 1,
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("start a container of %q with the key %q (-want +got):\n%s", c.image, c.key, diff)
				}
			}
		})
	}
}

// The examples that a reader copies pass.
func TestContainerExamples(t *testing.T) {
	binary := apptest.Program(t)
	t.Run("TypeScript", func(t *testing.T) {
		dir, e := packedTypeScript(t, "testcontainers", "nodemailer"), startEngine(t, binary)
		write(t, filepath.Join(dir, "signup.test.mjs"), read(t, "../../examples/testcontainers-typescript/signup.test.mjs"))
		if out := command(t, dir, e.environ(), "node", "--test", "--test-reporter=tap", "signup.test.mjs"); !strings.Contains(out, "# pass 1") {
			t.Errorf("node --test signup.test.mjs prints %q, want that one test passed", out)
		}
		e.check(t, "ghcr.io/gonebox/gonebox:latest", containerKey)
	})
	t.Run("Go", func(t *testing.T) {
		e := startEngine(t, binary)
		environ := append(e.environ(), "GOFLAGS=-mod=readonly -trimpath")
		if out := command(t, "../../examples/testcontainers-go", environ, "go", "test", "-count=1", "-v", "."); !strings.Contains(out, "--- PASS: TestSignUp") {
			t.Errorf("go test prints %q, want that TestSignUp passed", out)
		}
		e.check(t, "ghcr.io/gonebox/gonebox:latest", containerKey)
	})
}

// check compares what a program asked of the engine.
func (e *engine) check(t *testing.T, image, key string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.container
	if len(e.unexpected) > 0 || c == nil {
		t.Fatalf("the engine was asked for %q and created %v, want nothing else asked and a container", e.unexpected, c)
	}
	if c.Image != image || !slices.Contains(e.pulled, image) {
		t.Errorf("the container is of %q, and %q was pulled, want %q", c.Image, e.pulled, image)
	}
	if want := []string{"serve", "--dev"}; !slices.Equal(c.Cmd, want) {
		t.Errorf("the command is %q, want %q", c.Cmd, want)
	}
	environ := make(map[string]string)
	for _, variable := range c.Env { // the last one counts, as for an engine
		name, value, _ := strings.Cut(variable, "=")
		environ[name] = value
	}
	if diff := cmp.Diff(map[string]string{"GONEBOX_DEV_KEY": key, "GONEBOX_DEV_HOSTS": "127.0.0.1", "GONEBOX_SMTP_TLS_SELF_SIGNED": "false"}, environ); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
	for _, port := range []string{"8080/tcp", "1025/tcp", "8025/tcp"} {
		if c.mapped[port] == "" {
			t.Errorf("the ports published are %v, want %s among them", c.mapped, port)
		}
	}
	if e.polls <= 2 || len(e.early) > 0 {
		t.Errorf("/readyz was called %d times, and %q before it was ready; want it called until it is ready at the third, and nothing before", e.polls, e.early)
	}
	if !c.removed || e.process != nil {
		t.Errorf("the container was removed: %v, and its program ended: %v; want both", c.removed, e.process == nil)
	}
}

func typeScriptContainers(t *testing.T) func([]string, string, string) string {
	dir := packedTypeScript(t, "testcontainers")
	if err := os.CopyFS(dir, os.DirFS("testdata/containers")); err != nil {
		t.Fatal(err)
	}
	if got, want := command(t, dir, nil, "node", "start.cjs"), "function function ghcr.io/gonebox/gonebox:latest x_\n"; got != want {
		t.Errorf("node start.cjs prints %q, want %q", got, want)
	}
	return func(environ []string, image, key string) string {
		return command(t, dir, environ, "node", "start.mjs", image, key)
	}
}

func goContainers(t *testing.T) func([]string, string, string) string {
	dir, clients := t.TempDir(), sources(t, "go")
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/containers/main.go"))
	module := read(t, "../../clients/go/goneboxcontainer/go.mod")
	if strings.Contains(module, "replace") {
		t.Error("clients/go/goneboxcontainer/go.mod has a replace directive, want none, since go install module@version refuses it")
	}
	const client, own = "github.com/gonebox/gonebox/clients/go", "github.com/gonebox/gonebox/clients/go/goneboxcontainer"
	_, requirements, _ := strings.Cut(module, "\nrequire ")
	write(t, filepath.Join(dir, "go.mod"), "module containers\n\ngo 1.26.4\n\nrequire "+client+" v0.0.0\n\nrequire "+own+" v0.0.0\n\nrequire "+requirements+
		"\nreplace "+client+" => "+clients+"\n\nreplace "+own+" => "+filepath.Join(clients, "goneboxcontainer")+"\n")
	write(t, filepath.Join(dir, "go.sum"), read(t, "../../clients/go/goneboxcontainer/go.sum"))
	command(t, dir, nil, "go", "build", "-o", "program", ".")
	return func(environ []string, image, key string) string {
		return command(t, dir, environ, filepath.Join(dir, "program"), image, key)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
