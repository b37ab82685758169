package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

func TestFormulaHasChecksumsOfArchives(t *testing.T) {
	formula := read(t, artefact(t, "gonebox.rb"))
	sums := read(t, artefact(t, "SHA256SUMS"))
	for _, p := range made.platforms {
		if p.os == "windows" {
			continue
		}
		name := made.archiveName(p)
		sum, _, found := strings.Cut(sums[:max(strings.Index(sums, "  "+name+"\n"), 0)], "\x00")
		sum = sum[max(len(sum)-64, 0):]
		if found || len(sum) != 64 || !strings.Contains(formula, "/"+name+"\"\n      sha256 \""+sum+"\"\n") {
			t.Errorf("the formula is\n%s\nwant %s in it with the checksum %q", formula, name, sum)
		}
	}
	if strings.Contains(formula, "{{") || !strings.Contains(formula, `version "`+made.version+`"`) {
		t.Errorf("the formula is\n%s\nwant the version %s and nothing left to fill in", formula, made.version)
	}
}

func TestMCPEntryNamesImage(t *testing.T) {
	var entry struct {
		Schema      string `json:"$schema"`
		Name        string
		Description string
		Version     string
		Packages    []struct {
			RegistryType, Identifier, Version string
			Transport                         struct{ Type string }
			PackageArguments                  []struct{ Type, Value string }
			EnvironmentVariables              []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, artefact(t, "server.json"))), &entry); err != nil {
		t.Fatalf("server.json: %v", err)
	}
	if entry.Name != made.labels()["io.modelcontextprotocol.server.name"] || entry.Version != made.version || len(entry.Description) > 100 || entry.Schema == "" {
		t.Errorf("the entry is %+v, want the name of the image's label, version %s and a description of at most 100 characters", entry, made.version)
	}
	if len(entry.Packages) != 1 {
		t.Fatalf("the entry has %d packages, want the image", len(entry.Packages))
	}
	p := entry.Packages[0]
	if p.RegistryType != "oci" || p.Identifier != imageName+":"+made.version || p.Version != "" || p.Transport.Type != "stdio" || len(p.PackageArguments) != 1 || p.PackageArguments[0].Value != "mcp" {
		t.Errorf("the package is %+v, want gonebox mcp in the image over stdio, whose version is in its identifier", p)
	}
}

func TestComponentsAreThoseOfTheProgram(t *testing.T) {
	f, err := os.Open(artefact(t, "gonebox_*_sbom.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatalf("decode the list of components: %v", err)
	}
	if bom.Metadata.Component.Version != made.version || !strings.HasPrefix(bom.SerialNumber, "urn:uuid:") {
		t.Errorf("the list is of version %s with the serial number %q, want %s and a UUID", bom.Metadata.Component.Version, bom.SerialNumber, made.version)
	}
	found := make(map[string]string)
	for _, c := range *bom.Components {
		found[c.Name] = c.Version
	}
	for _, want := range []string{"std", "modernc.org/sqlite", "github.com/alecthomas/kong", "golang.org/x/crypto", "svelte"} {
		if found[want] == "" {
			t.Errorf("the list of %d components does not have %s, want it", len(found), want)
		}
	}
}

func TestCasaOSAppNamesImage(t *testing.T) {
	text := read(t, artefact(t, "gonebox_*_casaos.yaml"))
	if !strings.Contains(text, "image: "+imageName+":"+made.version+"\n") || strings.Contains(text, "{{") {
		t.Errorf("the app is\n%s\nwant the image of the version %s and nothing left to fill in", text, made.version)
	}
}

func TestChartHasVersion(t *testing.T) {
	files := unpack(t, artefact(t, "gonebox-chart-*.tgz"))
	text := string(files["gonebox/Chart.yaml"].body)
	if !strings.Contains(text, "\nversion: "+made.version) || !strings.Contains(text, "\nappVersion: \""+made.version+"\"") || len(files["gonebox/values.yaml"].body) == 0 {
		t.Errorf("the chart has the files %v and Chart.yaml\n%s\nwant version %s", len(files), text, made.version)
	}
}

// TestGoClientIsFetchedByVersion serves the module of the client from a folder, as a module proxy does, to a program that knows
// nothing else of it.
func TestGoClientIsFetchedByVersion(t *testing.T) {
	proxy, dir := t.TempDir(), t.TempDir()
	at := filepath.Join(proxy, goClient, "@v")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	version := "v" + made.version
	write(t, filepath.Join(at, "list"), version+"\n")
	write(t, filepath.Join(at, version+".info"), `{"Version": "`+version+`"}`)
	write(t, filepath.Join(at, version+".mod"), read(t, filepath.Join(made.root, "clients/go/go.mod")))
	write(t, filepath.Join(at, version+".zip"), read(t, artefact(t, "gonebox_*_go_client.zip")))
	environ := []string{"GOPROXY=file://" + proxy, "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOMODCACHE=" + t.TempDir(), "GOWORK=off"}
	write(t, filepath.Join(dir, "go.mod"), "module example\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport _ \""+goClient+"\"\n\nfunc main() {}\n")
	output(t, dir, environ, "go", "get", goClient+"@"+version)
	output(t, dir, environ, "go", "vet", "./...")
}

// example returns the example of a client's README.md, which prints the code 246810.
func example(t *testing.T, language, syntax string) string {
	t.Helper()
	_, below, found := strings.Cut(read(t, filepath.Join(made.root, "clients", language, "README.md")), "```"+syntax+"\n")
	block, _, closed := strings.Cut(below, "```\n")
	if !found || !closed {
		t.Fatalf("clients/%s/README.md has no example, want one", language)
	}
	return block
}

// TestClientsAreInstalledInEmptyFolders installs the packages for npm and Python as they are, and reads a code with each.
func TestClientsAreInstalledInEmptyFolders(t *testing.T) {
	needWhole(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), programHere(t), "serve", "--dev", "--data-dir", t.TempDir(), "--set", "compat.mailpit.addr="+freeAddress(t))
	cmd.Env = os.Environ()
	environ := []string{"GONEBOX_URL=http://" + start(t, cmd).http}
	for _, c := range []struct {
		name, language, syntax, program string
		install, run                    []string
	}{
		{
			"npm", "typescript", "js", "example.mjs",
			[]string{"npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--offline", "--loglevel=error", artefact(t, "gonebox-"+made.version+".tgz")},
			[]string{"node", "example.mjs"},
		},
		{
			"wheel", "python", "python", "example.py",
			[]string{"sh", "-c", python + ` -m venv env && env/bin/pip install --quiet --no-index --disable-pip-version-check "$1"`, "sh", artefact(t, "gonebox-*.whl")},
			[]string{"env/bin/python", "example.py"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "package.json"), `{"private": true}`)
			write(t, filepath.Join(dir, c.program), example(t, c.language, c.syntax))
			output(t, dir, nil, c.install[0], c.install[1:]...)
			if got := output(t, dir, environ, c.run[0], c.run[1:]...); got != "246810\n" {
				t.Errorf("the example of clients/%s/README.md prints %q, want 246810", c.language, got)
			}
		})
	}
}

// TestGoInstallsProgram serves the module of the program from a folder, beside the modules that this machine has, and installs
// the program as go install does for a user.
func TestGoInstallsProgram(t *testing.T) {
	needWhole(t)
	const path = "github.com/gonebox/gonebox"
	proxy, version := t.TempDir(), "v"+made.version
	at := filepath.Join(proxy, path, "@v")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := modzip.CreateFromVCS(&body, module.Version{Path: path, Version: version}, made.root, "HEAD", ""); err != nil {
		t.Fatalf("the repository is no module that can be published: %v", err)
	}
	write(t, filepath.Join(at, "list"), version+"\n")
	write(t, filepath.Join(at, version+".info"), `{"Version": "`+version+`"}`)
	write(t, filepath.Join(at, version+".mod"), read(t, filepath.Join(made.root, "go.mod")))
	write(t, filepath.Join(at, version+".zip"), body.String())
	downloaded := filepath.Join(strings.TrimSpace(output(t, "/", nil, "go", "env", "GOMODCACHE")), "cache/download")
	bin := t.TempDir()
	environ := []string{
		"GOPROXY=file://" + proxy + ",file://" + downloaded, "GOSUMDB=off", "GOFLAGS=-trimpath -modcacherw", "GOMODCACHE=" + t.TempDir(), "GOBIN=" + bin,
		"CGO_ENABLED=0", "GOWORK=off",
	}
	output(t, bin, environ, "go", "install", path+"/cmd/gonebox@"+version)
	if got := output(t, bin, nil, "./gonebox", "version"); !strings.HasPrefix(got, "gonebox "+version+",") {
		t.Errorf("gonebox version prints %q, want %s", got, version)
	}
}
