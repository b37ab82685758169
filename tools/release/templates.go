package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"
)

// chart writes the Helm chart of deploy/chart with the version of the release.
func (r *release) chart(context.Context) error {
	dir, err := os.MkdirTemp("", "gonebox-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(r.root, "deploy/chart"))); err != nil {
		return err
	}
	for _, key := range []string{"version", "appVersion"} {
		if err := stamp(filepath.Join(dir, "Chart.yaml"), `(?m)^`+key+`: "?([^"\n]*)`, r.version); err != nil {
			return err
		}
	}
	all, err := filesOf(dir)
	if err != nil {
		return err
	}
	var files []file // a chart has no entries for its folders
	for _, f := range all {
		if f.mode&fs.ModeDir == 0 {
			files = append(files, f)
		}
	}
	return r.archive("gonebox-chart-"+r.version+".tgz", below("gonebox", files))
}

// templates writes what refers to other artefacts by version and checksum: the Homebrew formula, the app for CasaOS and the
// entry for the registry of MCP servers.
func (r *release) templates(context.Context) error {
	values := struct {
		Version, Image, Repository, Description, Download string
		SHA256                                            func(system, arch string) (string, error)
		Archive                                           func(system, arch string) string
	}{
		Version: r.version, Image: imageName, Repository: repository, Description: description, Download: repository + "/releases/download/v" + r.version,
		Archive: func(system, arch string) string { return r.archiveName(platform{system, arch}) },
		SHA256: func(system, arch string) (string, error) {
			body, err := os.ReadFile(filepath.Join(r.dist, r.archiveName(platform{system, arch})))
			sum := sha256.Sum256(body)
			return hex.EncodeToString(sum[:]), err
		},
	}
	for source, name := range map[string]string{
		"deploy/homebrew/gonebox.rb.tmpl":        "gonebox.rb",
		"deploy/casaos/docker-compose.yaml.tmpl": "gonebox_" + r.version + "_casaos.yaml",
		"deploy/mcp/server.json.tmpl":            "server.json",
	} {
		text, err := os.ReadFile(filepath.Join(r.root, source))
		if err != nil {
			return err
		}
		t, err := template.New(source).Option("missingkey=error").Parse(string(text))
		if err != nil {
			return err
		}
		var body bytes.Buffer
		if err := t.Execute(&body, values); err != nil {
			return err
		}
		if filepath.Ext(name) == ".json" && !json.Valid(body.Bytes()) {
			return fmt.Errorf("%s is not JSON:\n%s", source, body.String())
		}
		if err := r.write(name, body.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
