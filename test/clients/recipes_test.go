package clients_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// recipes is the page that has them.
const recipes = "docs/testing.md"

// recipe writes a block of code of a page to the file that its first line names, without its folders, with replacements.
func recipe(t *testing.T, dir, page, file string, replace ...string) {
	t.Helper()
	block := regexp.MustCompile("(?ms)^```[a-z]+\n((?://|#) " + regexp.QuoteMeta(file) + "\n.*?)^```$").FindStringSubmatch(read(t, "../../"+page))
	if block == nil {
		t.Fatalf("%s has no block of code that begins with the name %s, want one", page, file)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(block[1], replace[i]) {
			t.Fatalf("%s in %s is\n%s\nwant %q in it to replace", file, page, block[1], replace[i])
		}
	}
	write(t, filepath.Join(dir, filepath.Base(file)), strings.NewReplacer(replace...).Replace(block[1]))
}

// port returns a port on which no process listens.
func port(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(apptest.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// onPath returns PATH with the built program as gonebox, as a user has it.
func onPath(t *testing.T, binary string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(dir, "gonebox")); err != nil {
		t.Fatal(err)
	}
	return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// copyRecipe copies the files that a recipe needs beside what docs/testing.md has.
func copyRecipe(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		write(t, filepath.Join(dir, filepath.Base(name)), read(t, filepath.Join("testdata/recipes", name)))
	}
}

// Playwright starts the application and Gonebox side by side, and a visitor signs up in Chromium.
func TestPlaywrightRecipe(t *testing.T) {
	t.Parallel()
	need(t, python) // the application's
	binary, chromium := apptest.Program(t), apptest.LookPath(t, "chromium-headless-shell", "chromium")
	dir := packedTypeScript(t, "@playwright/test", "@types/node")
	copyRecipe(t, dir, "app.py", "playwright/chromium.config.ts")
	write(t, filepath.Join(dir, "package.json"), `{"private": true, "scripts": {"start": "`+python+` app.py"}}`)
	web, smtp, app := port(t), port(t), port(t)
	recipe(t, dir, recipes, "playwright.config.ts", "localhost:8080", "localhost:"+web, "localhost:1025", "localhost:"+smtp, "localhost:3000", "localhost:"+app,
		"gonebox serve --dev", "gonebox serve --dev --http-addr 127.0.0.1:"+web+" --smtp-addr 127.0.0.1:"+smtp+" --set compat.mailpit.addr= --set dns.resolver=127.0.0.1:1")
	recipe(t, dir, recipes, "sign-up.spec.ts")
	environ := []string{onPath(t, binary), "CHROMIUM=" + chromium, "PORT=" + app, "CI=true"}
	out := command(t, dir, environ, "node", "node_modules/@playwright/test/cli.js", "test", "--config=chromium.config.ts", "--workers=1", "--reporter=line", "--timeout=120000")
	if !strings.Contains(out, "1 passed") {
		t.Errorf("playwright test prints %q, want that one test passed", out)
	}
}

// The fixture of the application gets the address of the plugin's mail server.
func TestPytestRecipe(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	need(t, python)
	dir, app := t.TempDir(), port(t)
	copyRecipe(t, dir, "app.py")
	recipe(t, dir, recipes, "conftest.py", "3000", app)
	recipe(t, dir, recipes, "test_sign_up.py")
	environ := []string{onPath(t, binary), "PYTHONPATH=" + filepath.Join(sources(t, "python"), "src")}
	out := command(t, dir, environ, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "gonebox.pytest_plugin")
	if !strings.Contains(out, "1 passed") {
		t.Errorf("pytest prints %q, want that one test passed", out)
	}
}

// TestMain starts the application and Gonebox.
func TestGoRecipe(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	dir, client := t.TempDir(), sources(t, "go")
	if err := os.CopyFS(dir, os.DirFS("testdata/recipes/go")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "shop/go.mod"), "module example.com/shop\n\ngo 1.24\n")
	const module = "github.com/gonebox/gonebox/clients/go"
	write(t, filepath.Join(dir, "go.mod"), "module example.com/signup\n\ngo 1.24\n\nrequire (\n\texample.com/shop v0.0.0\n\t"+module+" v0.0.0\n)\n\nreplace (\n\texample.com/shop => ./shop\n\t"+module+" => "+client+"\n)\n")
	recipe(t, dir, recipes, "signup_test.go")
	out := command(t, dir, []string{onPath(t, binary)}, "go", "test", "-count=1", "-v", ".")
	if !strings.Contains(out, "--- PASS: TestSignUp") {
		t.Errorf("go test prints %q, want that TestSignUp passed", out)
	}
}

// The tests of a section of docs/testing.md pass as they are, each with a service of its own.
func TestRecipesOfSections(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	for _, name := range []string{"why", "workers", "queue"} {
		t.Run(name+"/TypeScript", func(t *testing.T) {
			dir := packedTypeScript(t, "@playwright/test", "@types/node", "nodemailer")
			recipe(t, dir, recipes, name+".spec.ts")
			out := command(t, dir, []string{onPath(t, binary)}, "node", "node_modules/@playwright/test/cli.js", "test", "--reporter=line", "--timeout=120000")
			if !strings.Contains(out, " passed") {
				t.Errorf("playwright test of %s.spec.ts prints %q, want that it passed", name, out)
			}
		})
		t.Run(name+"/Python", func(t *testing.T) {
			need(t, python)
			dir := t.TempDir()
			recipe(t, dir, recipes, "test_"+name+".py")
			environ := []string{onPath(t, binary), "PYTHONPATH=" + filepath.Join(sources(t, "python"), "src")}
			out := command(t, dir, environ, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "gonebox.pytest_plugin")
			if !strings.Contains(out, " passed") {
				t.Errorf("pytest of test_%s.py prints %q, want that it passed", name, out)
			}
		})
		t.Run(name+"/Go", func(t *testing.T) {
			dir := t.TempDir()
			const module = "github.com/gonebox/gonebox/clients/go"
			write(t, filepath.Join(dir, "go.mod"), "module example.com/"+name+"\n\ngo 1.24\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+sources(t, "go")+"\n")
			recipe(t, dir, recipes, name+"_test.go")
			if out := command(t, dir, []string{onPath(t, binary)}, "go", "test", "-count=1", "-v", "."); !strings.Contains(out, "--- PASS: Test") {
				t.Errorf("go test of %s_test.go prints %q, want that it passed", name, out)
			}
		})
	}
}
