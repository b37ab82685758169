package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outcome is the result of a command line.
type outcome struct {
	code     int
	out, err string
}

// gonebox runs a command line, split at blanks, with only environ as its environment.
func gonebox(t *testing.T, line string, environ ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), strings.Fields(line), environ, &out, &err)
	return outcome{code, out.String(), err.String()}
}

// oneErrorLine checks the exit code, and that the only output is one line on stderr that contains want.
func (o outcome) oneErrorLine(t *testing.T, line string, code int, want string) {
	t.Helper()
	if o.code != code || o.out != "" || strings.Count(o.err, "\n") != 1 || !strings.HasPrefix(o.err, "gonebox: ") || !strings.Contains(o.err, want) {
		t.Errorf("gonebox %s: code %d, want %d\nstdout %q\nstderr %q, want %q", line, o.code, code, o.out, o.err, want)
	}
}

func TestUsageErrorsPointToHelp(t *testing.T) {
	for line, want := range map[string]string{
		"frob":                         "unexpected argument frob; see gonebox --help",
		"serve --nope":                 "unknown flag --nope; see gonebox serve --help",
		"serve extra":                  "see gonebox serve --help",
		"serve --config":               "see gonebox serve --help",
		"config --set addr":            "--set addr: no = between key and value; see gonebox config --help",
		"domain":                       "see gonebox domain --help",
		"otp":                          "see gonebox otp --help",
		"otp explain":                  "see gonebox otp explain --help",
		"otp explain a.eml b.eml":      "see gonebox otp explain --help",
		"domain add":                   "see gonebox domain add --help",
		"domain frob":                  "see gonebox domain --help",
		"send":                         "missing flags: --to=ADDRESS; see gonebox send --help",
		"send --to x":                  `"x" is not a mail address; see gonebox send --help`,
		"send --to a@b.example --from": "see gonebox send --help",
	} {
		gonebox(t, line).oneErrorLine(t, line, exitUsage, want)
	}
}

func TestConfigurationErrorsAreOneLine(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	for line, want := range map[string]string{
		"config --set nope=1":           "command line: nope: unknown key",
		"config --config " + missing:    "no such file",
		"serve --roles api":             "roles = \"api\"",
		"serve --http-addr 80":          `command line: http.addr = "80"`,
		"serve --smtp-addr 25":          `command line: smtp.addr = "25"`,
		"migrate --set base_url=x":      `command line: base_url = "x"`,
		"domain list --set base_url=x":  `command line: base_url = "x"`,
		"domain add a --set base_url=x": `command line: base_url = "x"`,
	} {
		gonebox(t, line).oneErrorLine(t, line, exitFailure, want)
	}
	gonebox(t, "serve", "GONEBOX_HTTP_ADDRR=:1").oneErrorLine(t, "serve", exitFailure, "GONEBOX_HTTP_ADDRR: unknown variable")
}

func TestEveryInvalidKeyHasItsLine(t *testing.T) {
	got := gonebox(t, "config --set smtp.addr=25 --set nope=1")
	lines := strings.Split(strings.TrimSuffix(got.err, "\n"), "\n")
	if got.code != exitFailure || len(lines) != 2 || !strings.Contains(lines[0], "nope") || !strings.Contains(lines[1], "smtp.addr") {
		t.Errorf("code %d, stderr %q", got.code, got.err)
	}
}

func TestHelpHasExamples(t *testing.T) {
	commands := []string{"", "serve ", "config ", "migrate ", "domain ", "domain add ", "domain list ", "domain disable ", "otp ", "otp explain ", "ready ", "send ", "version "}
	for _, command := range commands {
		got := gonebox(t, command+"--help")
		if got.code != exitOK || got.err != "" || !strings.Contains(got.out, "Example:") || !strings.Contains(got.out, "gonebox "+strings.TrimSpace(command)) {
			t.Errorf("%s--help: code %d\n%s%s", command, got.code, got.out, got.err)
		}
	}
	if got := gonebox(t, ""); got.code != exitOK || !strings.Contains(got.out, "Commands:") {
		t.Errorf("without a command: code %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestConfigPrintsEffectiveValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gonebox.yaml")
	if err := os.WriteFile(path, []byte("session: {idle: 5m}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line := "config --config " + path + " --data-dir /srv/box --set limits.reads=1/1s,9/1m --set=dns.resolver=a=b:1"
	got := gonebox(t, strings.ReplaceAll(line, " --set=dns.resolver=a=b:1", ""), "GONEBOX_SECRETS_KEY="+strings.Repeat("5e", 32))
	for _, want := range []string{"idle: 5m\n", `data_dir: "/srv/box"`, `reads: "1/1s, 9/1m"`, `key: "***"`, "# how long a guest session lives"} {
		if got.code != exitOK || !strings.Contains(got.out, want) {
			t.Errorf("no %q in code %d\n%s%s", want, got.code, got.out, got.err)
		}
	}
	gonebox(t, line).oneErrorLine(t, line, exitFailure, `dns.resolver = "a=b:1"`)
	if plain := gonebox(t, "config --no-comments"); strings.Contains(plain.out, "#") {
		t.Errorf("comments in\n%s", plain.out)
	}
}

func TestConfigPrintsJSON(t *testing.T) {
	var tree map[string]map[string]any
	got := gonebox(t, "config --json")
	if err := json.Unmarshal([]byte(got.out), new(any)); err != nil {
		t.Fatalf("%v in\n%s", err, got.out)
	}
	_ = json.Unmarshal([]byte(got.out), &tree) // fails for the scalars at the top level
	if tree["session"]["idle"] != "30m" {
		t.Errorf("session is %v", tree["session"])
	}
}

func TestVersionPrintsBuild(t *testing.T) {
	if got := gonebox(t, "version"); got.code != exitOK || !strings.HasPrefix(got.out, "gonebox ") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("got %+v", got)
	}
	var b build
	if err := json.Unmarshal([]byte(gonebox(t, "version --json").out), &b); err != nil || !strings.HasPrefix(b.Go, "go1.") {
		t.Errorf("got %+v, %v", b, err)
	}
}

func TestVariableNamesConfigurationFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gonebox.yaml")
	if err := os.WriteFile(path, []byte("session: {idle: 5m}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := gonebox(t, "config", "GONEBOX_CONFIG="+path, "GONEBOX_URL=http://localhost:8080"); got.code != exitOK || !strings.Contains(got.out, "idle: 5m\n") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
	gonebox(t, "config", "GONEBOX_CONFIG="+path+".none").oneErrorLine(t, "config", exitFailure, "no such file")
	if got := gonebox(t, "config --config "+path, "GONEBOX_CONFIG="+path+".none"); got.code != exitOK {
		t.Errorf("the flag does not override the variable: %s", got.err)
	}
}

// A command in the wrong folder must not make a database there and report success.
func TestCommandsNeedTheDatabaseOfAService(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, line := range []string{
		"domain list", "domain add box.example.org", "user list", "user set-plan ada@example.org plus", "payment list",
		"notice list", "page list", "page remove terms",
	} {
		gonebox(t, line+" --data-dir "+dir).oneErrorLine(t, line, exitFailure, "no service has run on "+dir+"; name its configuration with --config")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a command created the data directory")
	}
}
