package compat_test

import (
	"encoding/json"
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
	s = start(t, map[string]string{"base_url": "https://gonebox.test"})
	a := s.Call(http.MethodGet, "/openapi.json", "", nil)
	if a.Status != http.StatusOK {
		t.Fatalf("the document: %d, want Status %v", a.Status, http.StatusOK)
	}
	path = filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(path, a.Body, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, path
}

// run runs a program in a folder and returns its output.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	var diagnostics strings.Builder
	cmd.Stderr = &diagnostics
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run %s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, diagnostics.String())
	}
	return string(out)
}

// allowed are the warnings of Redocly's recommended rules that are accepted, by rule and location, each for a reason.
var allowed = map[string]string{
	"operation-4xx-response #/paths/~1api~1v1~1healthz/get/responses": "a probe takes every request",
	"operation-4xx-response #/paths/~1api~1v1~1readyz/get/responses":  "a probe takes every request",
}

func TestRedoclyFindsNothing(t *testing.T) {
	t.Parallel()
	installed(t, "openapi", ".bin/redocly")
	_, path := document(t)
	var report struct {
		Totals   struct{ Errors, Warnings, Ignored int }
		Problems []struct {
			RuleID   string `json:"ruleId"`
			Message  string
			Location []struct{ Pointer string }
		}
	}
	out := run(t, "openapi", "node_modules/.bin/redocly", "lint", path, "--extends=recommended", "--format=json", "--max-problems=1000")
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("decode the report: %v\n%s", err, out)
	}
	found := 0
	for _, p := range report.Problems {
		key := p.RuleID
		if len(p.Location) > 0 {
			key += " " + p.Location[0].Pointer
		}
		if allowed[key] == "" {
			t.Errorf("%s: %s, want no warning but those that are allowed", key, p.Message)
		} else {
			found++
		}
	}
	if found != len(allowed) {
		t.Errorf("%d warnings that are allowed came, want all %d: remove those that no longer come", found, len(allowed))
	}
}

func TestOpenAPITypeScriptGeneratesStrictTypes(t *testing.T) {
	t.Parallel()
	installed(t, "openapi", ".bin/redocly")
	_, path := document(t)
	dir := t.TempDir()
	run(t, "openapi", "node_modules/.bin/openapi-typescript", path, "--output", filepath.Join(dir, "schema.d.ts"))
	copyFile(t, "openapi/client.ts", dir)
	run(t, "openapi", "node_modules/.bin/tsc", "--noEmit", "--strict", "--typeRoots", dir, "--module", "es2022",
		"--moduleResolution", "bundler", "--target", "es2022", filepath.Join(dir, "client.ts"))
}

// The generator and what its client needs are pinned by a module of their own.
func TestOAPICodegenGeneratesAClientThatReadsACode(t *testing.T) {
	t.Parallel()
	s, path := document(t)
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		copyFile(t, filepath.Join("openapi/testdata/goclient", name), dir)
	}
	run(t, dir, "go", "tool", "oapi-codegen", "-package", "main", "-generate", "types,client", "-o", "client.gen.go", path)
	run(t, dir, "go", "build", "-o", "client", ".")
	url := strings.TrimSuffix(s.URL, "/api/v1")
	if code := strings.TrimSpace(run(t, dir, filepath.Join(dir, "client"), url)); code != "482915" {
		t.Errorf(`the generated client read the code %q, want "482915"`, code)
	}
}

func copyFile(t *testing.T, from, dir string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(from)), text, 0o600)
	}
	if err != nil {
		t.Fatalf("copy %s: %v", from, err)
	}
}
