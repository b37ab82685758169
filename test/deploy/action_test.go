package deploy_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// action is a composite action.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Name, Shell, Run string
			Env                  map[string]string
		}
	}
}

// runner runs the steps of an action as a runner of GitHub does, as far as the action asks for it.
type runner struct {
	action
	dir     string            // RUNNER_TEMP
	context map[string]string // what expressions may name
}

// newRunner returns a runner of the action with inputs; those that are not given have their defaults. ref is what the action is used by.
func newRunner(t *testing.T, ref string, inputs map[string]string) *runner {
	t.Helper()
	r := &runner{dir: t.TempDir(), context: map[string]string{"github.action_ref": ref}}
	if err := yaml.Unmarshal([]byte(read(t, root+"/action/action.yml")), &r.action); err != nil {
		t.Fatal(err)
	}
	if r.Runs.Using != "composite" {
		t.Fatalf("action.yml uses %q, want composite", r.Runs.Using)
	}
	for name, input := range r.Inputs {
		r.context["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		if _, known := r.Inputs[name]; !known {
			t.Fatalf("action.yml has no input %q, want it declared", name)
		}
		r.context["inputs."+name] = value
	}
	return r
}

var expression = regexp.MustCompile(`\$\{\{ ([^}]*) \}\}`)

// evaluate replaces the expressions in a text.
func (r *runner) evaluate(t *testing.T, text string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		value, known := r.context[name]
		if !known {
			t.Fatalf("action.yml says %s, want the name of something that exists", found)
		}
		return value
	})
}

// run runs the steps and returns what they printed and how the first that failed ended. The process that they leave is ended
// with the test.
func (r *runner) run(t *testing.T, environ ...string) (output string, err error) {
	t.Helper()
	for _, step := range r.Runs.Steps {
		if step.Shell != "bash" || strings.Contains(step.Run, "${{") {
			t.Fatalf("the step %q runs in %q, with an expression in its script: %t; want bash and none", step.Name, step.Shell, strings.Contains(step.Run, "${{"))
		}
		outputs := filepath.Join(r.dir, step.ID+".outputs")
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = t.TempDir()
		arch := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
		cmd.Env = append(os.Environ(), "RUNNER_OS=Linux", "RUNNER_ARCH="+arch, "RUNNER_TEMP="+r.dir,
			"GITHUB_OUTPUT="+outputs, "GITHUB_PATH="+filepath.Join(r.dir, "path"), "GITHUB_ENV="+filepath.Join(r.dir, "env"))
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+r.evaluate(t, value))
		}
		cmd.Env = append(cmd.Env, environ...)
		out, err := cmd.CombinedOutput()
		output += string(out)
		if err != nil {
			return output, fmt.Errorf("step %q: %w", step.Name, err)
		}
		for line := range strings.Lines(read(t, outputs)) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			r.context["steps."+step.ID+".outputs."+name] = value
		}
		if pid, err := strconv.Atoi(r.context["steps."+step.ID+".outputs.pid"]); err == nil {
			t.Cleanup(func() { end(pid) })
		}
	}
	return output, nil
}

// end ends a process that is no child of the test.
func end(pid int) {
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	for range 1000 {
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
			return // it runs no longer
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// output returns an output of the action.
func (r *runner) output(t *testing.T, name string) string {
	t.Helper()
	output, known := r.Outputs[name]
	if !known {
		t.Fatalf("action.yml has no output %q, want it declared", name)
	}
	return r.evaluate(t, output.Value)
}

// releases serves a release of the built program as GitHub does: version is also the newest. sums changes its SHA256SUMS.
func releases(t *testing.T, binary, version string, sums func(string) string) string {
	t.Helper()
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("gonebox_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	var archive bytes.Buffer
	compressed, _ := gzip.NewWriterLevel(&archive, gzip.BestSpeed)
	w := tar.NewWriter(compressed)
	for _, file := range []struct {
		name string
		mode int64
		body []byte
	}{{"completions/gonebox", 0o644, []byte("# completions\n")}, {"LICENSE", 0o644, []byte("licence\n")}, {"gonebox", 0o755, program}} {
		if err := w.WriteHeader(&tar.Header{Name: file.name, Mode: file.mode, Size: int64(len(file.body)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(file.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	list := fmt.Sprintf("%x  %s\n%x  gonebox_%s_checks.tar.gz\n", sha256.Sum256(archive.Bytes()), name, sha256.Sum256(nil), version)
	mux := http.NewServeMux()
	mux.Handle("GET /releases/latest", http.RedirectHandler("/releases/tag/v"+version, http.StatusFound))
	mux.HandleFunc("GET /releases/tag/v"+version, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>Release</h1>") })
	mux.HandleFunc("GET /releases/download/v"+version+"/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) })
	mux.HandleFunc("GET /releases/download/v"+version+"/SHA256SUMS", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, sums(list)) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/releases"
}

func same(list string) string { return list }

// freePort returns a port on which no process listens.
func freePort(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(apptest.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// The action downloads the release, starts it, and has its addresses as outputs. The program is on the PATH of the steps that follow.
func TestActionStartsService(t *testing.T) {
	apptest.LookPath(t, "curl")
	binary := apptest.Program(t)
	for _, c := range []struct{ version, ref string }{{"", "main"}, {"latest", ""}, {"1.2.3", ""}, {"v1.2.3", "v9.9.9"}, {"", "v1.2.3"}} {
		t.Run("version="+c.version+" ref="+c.ref, func(t *testing.T) {
			t.Parallel()
			http, smtp, mailpit := freePort(t), freePort(t), freePort(t)
			r := newRunner(t, c.ref, map[string]string{
				"version": c.version, "releases": releases(t, binary, "1.2.3", same),
				"http-port": http, "smtp-port": smtp, "mailpit-port": mailpit, "settings": "dns.resolver=127.0.0.1:1\nlog.level=debug\n",
			})
			if out, err := r.run(t); err != nil {
				t.Fatalf("the action: %v\n%s", err, out)
			}
			for name, want := range map[string]string{
				"url": "http://localhost:" + http, "smtp": "localhost:" + smtp, "mailpit": "http://localhost:" + mailpit, "version": "1.2.3",
			} {
				if got := r.output(t, name); got != want {
					t.Errorf("output %s is %q, want %q", name, got, want)
				}
			}
			if log := read(t, r.output(t, "log")); !strings.Contains(log, "DEBUG") {
				t.Errorf("the log is\n%s\nwant a line of the level DEBUG, as the input settings asks for", log)
			}
			path := strings.TrimSpace(read(t, filepath.Join(r.dir, "path")))
			script := `address=$(gonebox inbox new) && gonebox send --server "$SMTP" --to "$address" --code 246810 >&2 && gonebox inbox code --timeout 1m`
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script) // a step after it
			cmd.Env = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "GONEBOX_URL="+r.output(t, "url"), "SMTP="+r.output(t, "smtp"),
				"GONEBOX_KEY="+r.output(t, "key"), "XDG_CONFIG_HOME="+t.TempDir())
			if out, err := cmd.Output(); err != nil || string(out) != "246810\n" {
				t.Errorf("%s prints %q, %v, want the code", script, out, err)
			}
		})
	}
}

// What is not the release, or does not start, fails the step with a sentence.
func TestActionFails(t *testing.T) {
	apptest.LookPath(t, "curl")
	binary := apptest.Program(t)
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // after the parallel subtests
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for name, c := range map[string]struct {
		inputs  map[string]string
		sums    func(string) string
		environ string
		want    string
	}{
		"checksum":    {nil, func(string) string { return fmt.Sprintf("%064d  gonebox_1.2.3_linux_%s.tar.gz\n", 0, runtime.GOARCH) }, "", "does not have the checksum"},
		"not listed":  {nil, func(list string) string { return strings.ReplaceAll(list, "gonebox_", "other_") }, "", "does not list"},
		"suffix":      {nil, func(list string) string { return strings.ReplaceAll(list, "gonebox_", "x/gonebox_") }, "", "does not list"},
		"twice":       {nil, func(list string) string { return list + list }, "", "once"},
		"no sums":     {nil, func(string) string { return "" }, "", "does not list"},
		"no release":  {map[string]string{"version": "1.2.4"}, same, "", "cannot be downloaded"},
		"no version":  {map[string]string{"version": "../../other"}, same, "", "is no version"},
		"Windows":     {nil, same, "RUNNER_OS=Windows", "use a runner with Linux or macOS"},
		"32 bits":     {nil, same, "RUNNER_ARCH=X86", "not released for X86"},
		"port":        {map[string]string{"http-port": port}, same, "", "port " + port + " of this machine is in use"},
		"setting":     {map[string]string{"settings": "no.such=key"}, same, "", "ended before it was ready"},
		"no releases": {map[string]string{"releases": "http://127.0.0.1:1/releases"}, same, "", "newest release cannot be found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs := map[string]string{
				"releases": releases(t, binary, "1.2.3", c.sums), "settings": "dns.resolver=127.0.0.1:1",
				"http-port": freePort(t), "smtp-port": freePort(t), "mailpit-port": freePort(t),
			}
			maps.Copy(inputs, c.inputs)
			out, err := newRunner(t, "main", inputs).run(t, c.environ)
			if err == nil || !strings.Contains(out, "::error::") || !strings.Contains(out, c.want) {
				t.Errorf("the action ends with %v and prints\n%s\nwant an error that says %q", err, out, c.want)
			}
		})
	}
}

// docs/testing.md uses the action with inputs that it has, and calls the service where it is then.
func TestActionIsUsedAsDocumented(t *testing.T) {
	block := regexp.MustCompile("(?s)\n```yaml\n(- uses: .*?)```\n").FindStringSubmatch(read(t, root+"/docs/testing.md"))
	if block == nil {
		t.Fatal("docs/testing.md has no steps that use the action, want some")
	}
	var steps []struct {
		Uses, Run string
		With, Env map[string]string
	}
	if err := yaml.Unmarshal([]byte(block[1]), &steps); err != nil || len(steps) != 2 {
		t.Fatalf("the steps in docs/testing.md are %v, %v, want two", steps, err)
	}
	name, version, _ := strings.Cut(steps[0].Uses, "@")
	if want := "gonebox/gonebox/action"; name != want || !strings.HasPrefix(version, "v") {
		t.Errorf("docs/testing.md uses %q, want %s@v…", steps[0].Uses, want)
	}
	r := newRunner(t, version, steps[0].With)
	r.context["steps.start.outputs.url"] = "http://localhost:" + r.context["inputs.http-port"]
	want := map[string]string{"GONEBOX_URL": r.output(t, "url"), "GONEBOX_SMTP": "localhost:" + r.context["inputs.smtp-port"]}
	for name, value := range want {
		if got := steps[1].Env[name]; got != value {
			t.Errorf("docs/testing.md sets %s to %q after the action, want %q", name, got, value)
		}
	}
}
