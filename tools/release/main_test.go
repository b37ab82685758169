package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// distFlag names a release that make release has made. Without it the tests make a small one, in which the program of make
// build stands for this machine's, and an empty one for those of other machines; the clients' packages are left out.
var distFlag = flag.String("dist", "", "test the release in a `folder`, whole, also by what takes minutes")

// here is the platform of this machine.
var here = platform{runtime.GOOS, runtime.GOARCH}

// made is the release that the tests look at.
var made *release

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "gonebox-release-test-")
	if err == nil {
		err = prepare(context.Background(), dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare a release:", err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// whole reports whether the release has everything.
func whole() bool { return *distFlag != "" }

// needWhole skips a test of what a small release does not have, or that takes minutes.
func needWhole(t *testing.T) {
	t.Helper()
	if !whole() {
		t.Skip("make release-test tests this")
	}
}

// prepare sets made, in a folder unless the flag names one.
func prepare(ctx context.Context, dir string) (err error) {
	if whole() {
		if made, err = newRelease(ctx, "../..", *distFlag); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(made.dist, "gonebox_"+made.version+"_image.tar")); err != nil {
			return fmt.Errorf("%s has no release of what is checked out, %s: make release makes it", made.dist, made.version)
		}
		return nil
	}
	if made, err = newRelease(ctx, "../..", filepath.Join(dir, "dist")); err != nil {
		return err
	}
	program := os.Getenv("TEST_PROGRAM") // built by make test
	if program == "" {
		program = filepath.Join(dir, "gonebox")
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./cmd/gonebox")
		cmd.Dir, cmd.Env = made.root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
	}
	empty, err := emptyProgram(ctx, dir)
	if err != nil {
		return err
	}
	made.binaries = make(map[platform][]byte)
	for _, p := range made.platforms {
		made.binaries[p] = empty
	}
	if made.binaries[here], err = os.ReadFile(program); err != nil {
		return err
	}
	made.without = []string{"client for npm", "client for Python"} // test/clients packs and installs them
	return made.make(ctx)
}

// emptyProgram builds a program that does nothing.
func emptyProgram(ctx context.Context, dir string) ([]byte, error) {
	source, program := filepath.Join(dir, "empty.go"), filepath.Join(dir, "empty")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return os.ReadFile(program)
}

// artefact returns the path of a file of the release.
func artefact(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(made.dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("Glob(%q) in %s = %q, %v, want one file", pattern, made.dist, found, err)
	}
	return found[0]
}

// output runs a program that must succeed, and returns what it prints.
func output(t *testing.T, dir string, environ []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run %s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// need skips the test if a program is missing, or fails it where the whole release is tested: test/deps.sh release installs them.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && whole() {
		t.Fatalf("%s is not on this machine, want it installed by test/deps.sh release", name)
	} else if err != nil {
		t.Skipf("%s is not on this machine", name)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
