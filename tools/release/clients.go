package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// python is Debian's, which the packages build and setuptools of Debian belong to.
const python = "/usr/bin/python3"

// leftovers are what installing and building leave in the folder of a client.
var leftovers = []string{"node_modules", "dist", "build", "__pycache__"}

// copyClient copies the sources of a client into a folder, with modes that do not depend on the umask.
func (r *release) copyClient(language, dir string) error {
	from := filepath.Join(r.root, "clients", language)
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if slices.Contains(leftovers, e.Name()) || strings.HasSuffix(e.Name(), ".egg-info") {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		to := filepath.Join(dir, name)
		if e.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, body, 0o644); err != nil {
			return err
		}
		return os.Chmod(to, 0o644)
	})
}

// client calls build with a copy of a client's sources, whose version is put into a file at what a pattern matches.
func (r *release) client(language, file, pattern, version string, build func(dir string) error) error {
	dir, err := os.MkdirTemp("", "gonebox-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := r.copyClient(language, dir); err != nil {
		return err
	}
	if file != "" {
		if err := stamp(filepath.Join(dir, file), pattern, version); err != nil {
			return err
		}
	}
	return build(dir)
}

// stamp replaces what a pattern captures, once, in a file.
func stamp(path, pattern, by string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := regexp.MustCompile(pattern).FindSubmatchIndex(text)
	if at == nil {
		return fmt.Errorf("%s: nothing matches %s", path, pattern)
	}
	return os.WriteFile(path, slices.Concat(text[:at[2]], []byte(by), text[at[3]:]), 0o644)
}

// npm writes the package of the client for TypeScript.
func (r *release) npm(ctx context.Context) error {
	modules := filepath.Join(r.root, "clients/typescript/node_modules")
	if _, err := os.Stat(modules); err != nil {
		return errors.New("the compiler of clients/typescript is not installed: make deps installs it, with npm")
	}
	return r.client("typescript", "package.json", `"version": "([^"]*)"`, r.version, func(dir string) error {
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			return err
		}
		_, err := r.command(ctx, dir, nil, "npm", "pack", "--silent", "--pack-destination", r.dist)
		return err
	})
}

// wheel writes the package of the client for Python.
func (r *release) wheel(ctx context.Context) error {
	version := pythonVersion(r.version)
	return r.client("python", "pyproject.toml", `(?m)^version = "([^"]*)"`, version, func(dir string) error {
		_, err := r.command(ctx, dir, nil, python, "-m", "build", "--wheel", "--no-isolation", "--outdir", r.dist)
		return err
	})
}

// pythonVersion returns a version in the form of PEP 440: 0.1.1-dev.gabc is 0.1.1.dev0+gabc.
func pythonVersion(version string) string {
	number, rest, development := strings.Cut(version, "-dev.")
	if !development {
		return version
	}
	return number + ".dev0+" + rest
}

// goClient is the module of the client for Go. Its version is the tag clients/go/v1.2.3.
const goClient = "github.com/gonebox/gonebox/clients/go"

// goModule writes the module of the client for Go as module proxies serve it, which checks that it can be tagged.
func (r *release) goModule(context.Context) error {
	var body bytes.Buffer
	if err := modzip.CreateFromDir(&body, module.Version{Path: goClient, Version: "v" + r.version}, filepath.Join(r.root, "clients/go")); err != nil {
		return err
	}
	return r.write("gonebox_"+r.version+"_go_client.zip", body.Bytes())
}
