package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Where a release is published.
const (
	repository = "https://github.com/gonebox/gonebox"
	imageName  = "ghcr.io/gonebox/gonebox"
)

// description is the one line that packages are found by.
const description = "Disposable mailboxes in one binary: SMTP in, codes and links out"

// platform is an operating system and an architecture, by Go's names.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

// allPlatforms are what archives are made for.
func allPlatforms() []platform {
	var all []platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, platform{system, arch})
		}
	}
	return all
}

// release is what is made of one commit.
type release struct {
	root, dist string // absolute
	version    string // without v
	date       time.Time
	platforms  []platform

	// Tests give some of these in advance.
	binaries map[platform][]byte // built by build
	shared   []file              // man pages and completions, written by share
	without  []string            // steps that are left out
}

// make makes everything.
func (r *release) make(ctx context.Context) error {
	if err := os.RemoveAll(r.dist); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dist, 0o755); err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"binaries", r.build},
		{"man pages and completions", r.share},
		{"archives", r.archives},
		{"packages of Debian and RPM", r.packages},
		{"image", r.image},
		{"list of components", r.components},
		{"client for npm", r.npm},
		{"client for Python", r.wheel},
		{"client for Go", r.goModule},
		{"chart", r.chart},
		{"templates", r.templates},
		{"checksums", r.checksums},
	}
	for _, step := range steps {
		if slices.Contains(r.without, step.name) {
			continue
		}
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// build builds the program for each platform that has no binary yet.
func (r *release) build(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gonebox-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if r.binaries == nil {
		r.binaries = make(map[platform][]byte)
	}
	for _, p := range r.platforms {
		if r.binaries[p] != nil {
			continue
		}
		output := filepath.Join(dir, p.String())
		flags := "-s -w -buildid= -X github.com/gonebox/gonebox/internal/app.Version=" + r.version
		environ := []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off"}
		if _, err := r.command(ctx, r.root, environ, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", output, "./cmd/gonebox"); err != nil {
			return err
		}
		if r.binaries[p], err = os.ReadFile(output); err != nil {
			return err
		}
	}
	return nil
}

// share has the program write its man pages and completion scripts. They are the same on every platform.
func (r *release) share(ctx context.Context) error {
	if r.shared != nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "gonebox-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "gonebox")
	binary := r.binaries[platform{runtime.GOOS, runtime.GOARCH}]
	if binary == nil {
		return fmt.Errorf("there is no binary for this machine, %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if err := os.WriteFile(program, binary, 0o700); err != nil {
		return err
	}
	if _, err := r.command(ctx, dir, nil, program, "man", "--dir", "man"); err != nil {
		return err
	}
	pages, err := os.ReadDir(filepath.Join(dir, "man"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(dir, "man", page.Name()))
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{name: "man/" + page.Name(), mode: 0o644, body: text})
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := r.command(ctx, dir, nil, program, "completion", shell)
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{name: "completions/gonebox." + shell, mode: 0o644, body: script})
	}
	return nil
}

// command runs a program and returns its standard output. Its time is that of the commit.
func (r *release) command(ctx context.Context, dir string, environ []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.date.Unix(), 10))
	cmd.Env = append(cmd.Env, environ...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, errs.String())
	}
	return out, nil
}

// source reads a file of the repository.
func (r *release) source(name string, mode fs.FileMode, as string) (file, error) {
	body, err := os.ReadFile(filepath.Join(r.root, name))
	return file{name: as, mode: mode, body: body}, err
}

// write writes an artefact.
func (r *release) write(name string, body []byte) error {
	return os.WriteFile(filepath.Join(r.dist, name), body, 0o644)
}

// checksums writes SHA256SUMS, in the format of sha256sum.
func (r *release) checksums(context.Context) error {
	sums, err := sumsOf(r.dist)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	return r.write("SHA256SUMS", []byte(text.String()))
}

// sumsOf returns the SHA-256 of each file below a folder, by its path.
func sumsOf(dir string) (map[string]string, error) {
	sums := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		sums[filepath.ToSlash(name)] = hex.EncodeToString(h.Sum(nil))
		return err
	})
	return sums, err
}

// list prints the artefacts with their sizes.
func (r *release) list(out io.Writer) error {
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if e.IsDir() {
			fmt.Fprintf(out, "%12s  %s/\n", "", e.Name())
			continue
		}
		fmt.Fprintf(out, "%12d  %s\n", info.Size(), e.Name())
	}
	return nil
}
