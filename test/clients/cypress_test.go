package clients_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// The plug-in for Cypress works with its types and in a bundle for browsers. The program of Cypress itself is not a package, so
// testdata/cypress/drive.mjs calls the tasks and commands as it does.
func TestCypress(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	bundler, err := filepath.Abs("../../web/node_modules/rolldown/dist/index.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bundler); err != nil {
		t.Skip("the bundler of the page is not installed: make deps installs it")
	}
	dir := packedTypeScript(t, "cypress", "typescript")
	if err := os.CopyFS(dir, os.DirFS("testdata/cypress")); err != nil {
		t.Fatal(err)
	}
	readme := "clients/typescript/README.md"
	for _, file := range []string{"cypress.config.js", "cypress/support/e2e.js", "signup.cy.js"} {
		recipe(t, dir, readme, file)
	}
	command(t, dir, nil, "node", "node_modules/typescript/bin/tsc", "-p", ".")
	if out, want := command(t, dir, []string{"GONEBOX_BINARY=" + binary}, "node", "drive.mjs", bundler), "ok\n"; out != want {
		t.Errorf("node drive.mjs prints %q, want %q", out, want)
	}
}
