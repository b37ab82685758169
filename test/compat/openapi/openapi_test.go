// Package openapi_test checks the OpenAPI document with the tools that its readers use: a linter, and generators of clients.
package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// document starts a service and writes its OpenAPI document to a file.
func document(t *testing.T) (s *apptest.Service, path string) {
	t.Helper()
	s = apptest.Start(t, apptest.Options{RealClock: true, Set: map[string]string{
		"base_url": "https://gonebox.test", "account.password.memory": "8KiB",
	}})
	a := s.Call(http.MethodGet, "/openapi.json", "", nil)
	if a.Status != http.StatusOK {
		t.Fatalf("the document: %d", a.Status)
	}
	path = filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(path, a.Body, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, path
}

// installed skips the test where the packages of npm cannot be installed, and fails it where they are not.
func installed(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	if _, err := os.Stat("node_modules/.bin/redocly"); err != nil {
		if testing.Short() {
			t.Skip("the tools are not installed")
		}
		t.Fatal("make test/compat/openapi/node_modules installs the tools")
	}
}

// run runs a program in a folder and returns its output.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	var diagnostics strings.Builder
	cmd.Stderr = &diagnostics
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, diagnostics.String())
	}
	return string(out)
}

// allowed are the warnings of Redocly's recommended rules that are accepted, by rule and location, each for a reason.
var allowed = map[string]string{
	"operation-4xx-response #/paths/~1api~1v1~1healthz/get/responses": "a probe takes every request",
	"operation-4xx-response #/paths/~1api~1v1~1readyz/get/responses":  "a probe takes every request",
}

func TestRedoclyFindsNothing(t *testing.T) {
	installed(t)
	_, path := document(t)
	var report struct {
		Totals   struct{ Errors, Warnings, Ignored int }
		Problems []struct {
			RuleID   string `json:"ruleId"`
			Message  string
			Location []struct{ Pointer string }
		}
	}
	out := run(t, ".", "node_modules/.bin/redocly", "lint", path, "--extends=recommended", "--format=json", "--max-problems=1000")
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := 0
	for _, p := range report.Problems {
		key := p.RuleID
		if len(p.Location) > 0 {
			key += " " + p.Location[0].Pointer
		}
		if allowed[key] == "" {
			t.Errorf("%s: %s", key, p.Message)
		} else {
			found++
		}
	}
	if found != len(allowed) {
		t.Errorf("%d warnings of %d that are allowed: remove those that no longer come", found, len(allowed))
	}
}

func TestOpenAPITypeScriptGeneratesStrictTypes(t *testing.T) {
	installed(t)
	_, path := document(t)
	dir := t.TempDir()
	run(t, ".", "node_modules/.bin/openapi-typescript", path, "--output", filepath.Join(dir, "schema.d.ts"))
	copyFile(t, "client.ts", dir)
	run(t, ".", "node_modules/.bin/tsc", "--noEmit", "--strict", "--typeRoots", dir, "--module", "es2022",
		"--moduleResolution", "bundler", "--target", "es2022", filepath.Join(dir, "client.ts"))
}

// The generator and what its client needs are pinned by a module of their own.
func TestOAPICodegenGeneratesAClientThatReadsACode(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out compiling the client")
	}
	s, path := document(t)
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		copyFile(t, filepath.Join("testdata/goclient", name), dir)
	}
	run(t, dir, "go", "tool", "oapi-codegen", "-package", "main", "-generate", "types,client", "-o", "client.gen.go", path)
	run(t, dir, "go", "build", "-o", "client", ".")
	url := strings.TrimSuffix(s.URL, "/api/v1")
	if code := strings.TrimSpace(run(t, dir, filepath.Join(dir, "client"), url)); code != "482915" {
		t.Errorf("the generated client read the code %q", code)
	}
}

func copyFile(t *testing.T, from, dir string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(from)), text, 0o600)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("copy %s: %w", from, err))
	}
}
