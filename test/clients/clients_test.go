package clients_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// patience bounds each command of the tests.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	code := apptest.RunLong("the clients, packed", m.Run)
	_ = os.RemoveAll(packing.dir)
	os.Exit(code)
}

// The Python that Debian's packages of modules belong to.
const python = "/usr/bin/python3"

func TestClients(t *testing.T) {
	binary := apptest.Program(t)
	http, _ := apptest.Serve(t, binary, "base_url=http://localhost/mail") // the examples pass a URL with a path
	for language, test := range map[string]func(*testing.T, string, []string){"TypeScript": typeScript, "Python": pythonClient, "Go": goClient} {
		t.Run(language, func(t *testing.T) {
			test(t, "GONEBOX_BINARY="+binary, []string{"GONEBOX_URL=http://" + http + "/mail/"})
		})
	}
}

// example returns the example of a client's README.md, which prints the code.
func example(t *testing.T, client, syntax string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(client, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "```"+syntax+"\n")
	block, _, closed := strings.Cut(below, "```\n")
	if !found || !closed {
		t.Fatalf("%s/README.md has no example in %s, want one", client, syntax)
	}
	return block
}

func checkCode(t *testing.T, output string) {
	t.Helper()
	if output != "246810\n" {
		t.Errorf(`the example of README.md prints %q, want "246810\n"`, output)
	}
}

func typeScript(t *testing.T, binary string, service []string) {
	dir, packed := folder(t, "typescript"), packTypeScript(t)
	write(t, filepath.Join(dir, "package.json"), `{"private": true}`)
	runner := playwright(t, "../../clients/typescript")
	command(t, dir, nil, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", packed, runner)
	if out := command(t, dir, nil, "node", "commonjs.cjs"); out != "function function function function\n" {
		t.Errorf(`CommonJS has %s, want "function function function function\n"`, out)
	}
	write(t, filepath.Join(dir, "example.mjs"), example(t, "../../clients/typescript", "js"))
	checkCode(t, command(t, dir, service, "node", "example.mjs"))
	out := command(t, dir, []string{binary, startFaulty(t).environ()}, "node_modules/.bin/playwright", "test", "--workers=1", "--reporter=line", "--timeout=120000")
	if !strings.Contains(out, " passed") || strings.Contains(out, "skipped") {
		t.Errorf("Playwright says\n%s\nwant its tests passed, and none skipped", out)
	}
}

// packing is the client for TypeScript as npm pack leaves it, which is packed once for all tests.
var packing struct {
	sync.Once
	dir, archive string
}

// packTypeScript returns the packed client.
func packTypeScript(t *testing.T) (archive string) {
	t.Helper()
	need(t, "npm")
	modules := installed(t, "")
	packing.Do(func() {
		client := sources(t, "typescript")
		err := os.Symlink(modules, filepath.Join(client, "node_modules"))
		if err == nil {
			packing.dir, err = os.MkdirTemp("", "gonebox-packed-")
		}
		if err != nil {
			t.Fatal(err)
		}
		packed := command(t, client, nil, "npm", "pack", "--silent", "--pack-destination", packing.dir)
		packing.archive = filepath.Join(packing.dir, strings.TrimSpace(packed))
	})
	if packing.archive == "" {
		t.Fatal("npm pack left no archive, as another test says")
	}
	return packing.archive
}

// installed returns the folder of a package that the client is developed with, and of all of them for "".
func installed(t *testing.T, name string) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("../../clients/typescript/node_modules", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skip("what the client is developed with is not installed: make deps installs it")
	}
	return folder
}

// packedTypeScript returns an empty folder in which the packed client is installed, beside packages that it is developed with.
func packedTypeScript(t *testing.T, packages ...string) string {
	t.Helper()
	dir, packed := t.TempDir(), packTypeScript(t)
	if err := os.MkdirAll(filepath.Join(dir, "node_modules/gonebox"), 0o700); err != nil {
		t.Fatal(err)
	}
	command(t, dir, nil, "tar", "-xzf", packed, "-C", "node_modules/gonebox", "--strip-components=1")
	write(t, filepath.Join(dir, "package.json"), `{"private": true, "type": "module"}`)
	for _, name := range packages {
		link := filepath.Join(dir, "node_modules", name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(installed(t, name), link); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func pythonClient(t *testing.T, binary string, service []string) {
	need(t, python)
	dir := folder(t, "python")
	client := sources(t, "python")
	command(t, client, nil, python, "-m", "build", "--wheel", "--no-isolation", "--outdir", dir)
	wheels, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
	if len(wheels) != 1 {
		t.Fatalf("the wheels are %v, want one", wheels)
	}
	command(t, dir, nil, python, "-m", "venv", "--system-site-packages", "env")
	command(t, dir, nil, "env/bin/pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", wheels[0])
	write(t, filepath.Join(dir, "example.py"), example(t, client, "python"))
	checkCode(t, command(t, dir, service, "env/bin/python", "example.py"))
	command(t, dir, []string{binary, startFaulty(t).environ()}, "env/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_flows.py", "test_faults.py")
}

func goClient(t *testing.T, binary string, service []string) {
	dir, client := folder(t, "go"), sources(t, "go")
	command(t, client, nil, "go", "vet", "./...")
	command(t, client, []string{binary}, "go", "test", "-count=1", "./...") // with the examples
	const module = "github.com/gonebox/gonebox/clients/go"
	write(t, filepath.Join(dir, "go.mod"), "module flows\n\ngo 1.26\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+client+"\n")
	if err := os.Mkdir(filepath.Join(dir, "example"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "example/main.go"), example(t, client, "go"))
	checkCode(t, command(t, dir, service, "go", "run", "./example"))
	command(t, dir, []string{binary, startFaulty(t).environ()}, "go", "test", "-count=1", ".")
}

// folder returns a folder that has only the programs of testdata for a language, and a file to attach.
func folder(t *testing.T, language string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", language))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "invoice.txt"), "EUR 42\n")
	return dir
}

// sources returns a copy of a client, without what was installed or built there, so that packing it builds everything and
// changes nothing in the checkout.
func sources(t *testing.T, language string) string {
	t.Helper()
	dir, from := t.TempDir(), filepath.Join("../../clients", language)
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == "node_modules" || e.Name() == "build" || e.Name() == "dist" || strings.HasSuffix(e.Name(), ".egg-info") {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(from, name)
		target := filepath.Join(dir, below)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// playwright returns the version of the test runner that the client is developed with, as npm install takes it.
func playwright(t *testing.T, client string) string {
	t.Helper()
	version := command(t, client, nil, "node", "-p", "require('./package.json').devDependencies['@playwright/test']")
	return "@playwright/test@" + strings.TrimSpace(version)
}

// command runs a program and returns its output. The test fails if the program does. Go builds with the settings of a release, so that it
// finds what make test has compiled.
func command(t *testing.T, dir string, environ []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod -trimpath", "GOWORK=off", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1", "GONEBOX_URL=", "PYTHONDONTWRITEBYTECODE=1")
	cmd.Env = append(cmd.Env, "TMPDIR="+t.TempDir()) // test runs that are killed leave the folder of their service there
	cmd.Env = append(cmd.Env, environ...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("run %s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
