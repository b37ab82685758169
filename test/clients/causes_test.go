package clients_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// causeCase is a case as the programs of testdata/causes read it.
type causeCase struct {
	Name       string         `json:"name"`
	URL        string         `json:"url"`
	Credential string         `json:"credential"`
	Account    bool           `json:"account"` // the credential is a key, which waits in all mailboxes
	For        string         `json:"for"`
	Options    map[string]any `json:"options"`

	want, says string
}

// The error of a wait that timed out names what happened instead, in each client, and has the causes.
func TestTimeoutsSayWhy(t *testing.T) {
	binary := apptest.Program(t)
	for language, run := range map[string]func(*testing.T) (dir string, program []string){"TypeScript": causesTypeScript, "Python": causesPython, "Go": causesGo} {
		t.Run(language, func(t *testing.T) {
			dir, program := run(t)
			service := causeService(t, binary)
			var cases []causeCase
			for _, c := range apptest.Causes(t, "../causes/causes.json") {
				if ready, ok := causeOf(service, c, language); ok {
					cases = append(cases, ready)
				}
			}
			if len(cases) < 40 {
				t.Errorf("%d causes can be waited for, want 40 at least", len(cases))
			}
			checkCauses(t, cases, runCauses(t, dir, program, cases))
		})
	}
}

// causeService starts a service on which the causes can be brought about.
func causeService(t *testing.T, binary string) *apptest.CauseService {
	t.Helper()
	data := t.TempDir()
	t.Run("the data folder is made", func(t *testing.T) { apptest.Serve(t, binary, "data_dir="+data) })
	for kind, values := range apptest.CauseBlocks() {
		for _, value := range values {
			command(t, data, nil, binary, "block", "add", "--set", "data_dir="+data, "--"+kind, value)
		}
	}
	settings := []string{"data_dir=" + data}
	for key, value := range apptest.CauseSettings() {
		settings = append(settings, key+"="+value)
	}
	web, smtp := apptest.Serve(t, binary, settings...)
	return &apptest.CauseService{T: t, URL: "http://" + web, SMTP: smtp}
}

// causeOf brings a cause about. It returns false if the client has no option for its query.
func causeOf(service *apptest.CauseService, c apptest.Cause, language string) (causeCase, bool) {
	none := []string{"since"}
	if language == "Python" { // its waits have fewer options
		none = append(none, "unseen", "mailbox", "domain", "source")
	}
	for name := range c.Wait.Query {
		if slices.Contains(none, name) {
			return causeCase{}, false
		}
	}
	in := service.Induce(c)
	ready := causeCase{in.Name, service.URL, in.Credential, c.As != "mailbox", in.For, make(map[string]any), in.Want, in.Says}
	for name, value := range in.Query {
		ready.Options[name] = value
		if name == "unseen" {
			ready.Options[name] = true
		}
	}
	if c.As == "key" && ready.Options["to"] == nil {
		ready.Options["to"] = in.Address
	}
	if c.As == "key" && strings.HasPrefix(in.Says, "No mail for ") {
		ready.says = "No mail for the account"
	}
	return ready, true
}

// causeResult is what a program printed of a case.
type causeResult struct {
	Name, Code, Message string
	Causes              []string
}

func runCauses(t *testing.T, dir string, program []string, cases []causeCase) (results []causeResult) {
	t.Helper()
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, bytes.NewReader(input), os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod -trimpath", "GOWORK=off")
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &results)
	}
	if err != nil || len(results) != len(cases) {
		t.Fatalf("%v: %v, %d results, want %d: %s", program, err, len(results), len(cases), out)
	}
	return results
}

func checkCauses(t *testing.T, cases []causeCase, results []causeResult) {
	t.Helper()
	for i, c := range cases {
		r := results[i]
		if r.Name != c.Name || r.Code != "wait.timeout" || len(r.Causes) == 0 || r.Causes[0] != c.want || !strings.Contains(r.Message, c.says) {
			t.Errorf("%s: waiting for a %s with %v: %+v, want wait.timeout with the cause %s and %q in the message", c.Name, c.For, c.Options, r, c.want, c.says)
		}
	}
}

func causesTypeScript(t *testing.T) (dir string, program []string) {
	dir = packedTypeScript(t)
	copyProgram(t, dir, "causes.mjs")
	return dir, []string{"node", "causes.mjs"}
}

func causesPython(t *testing.T) (dir string, program []string) {
	need(t, python)
	dir = t.TempDir()
	copyProgram(t, dir, "causes.py")
	return dir, []string{"env", "PYTHONPATH=" + filepath.Join(sources(t, "python"), "src"), python, "causes.py"}
}

func causesGo(t *testing.T) (dir string, program []string) {
	dir = t.TempDir()
	copyProgram(t, dir, "main.go")
	const module = "github.com/gonebox/gonebox/clients/go"
	write(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module causes\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, sources(t, "go")))
	return dir, []string{"go", "run", "."}
}

// copyProgram copies a program of testdata/causes.
func copyProgram(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/causes", name))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, name), string(text))
}
