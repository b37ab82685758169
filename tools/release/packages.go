package main

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers its format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers its format
)

// packages writes the Debian and RPM packages for Linux.
func (r *release) packages(context.Context) error {
	dir, err := os.MkdirTemp("", "gonebox-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.pack(p, format, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// pack writes a package. The folder takes the files that it is made from.
func (r *release) pack(p platform, format, dir string) error {
	contents, err := r.contents(p, dir)
	if err != nil {
		return err
	}
	depends := "passwd" // has useradd
	if format == "rpm" {
		depends = "shadow-utils"
	}
	script := func(name string) string { return filepath.Join(r.root, "deploy/package", name) }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "gonebox", Arch: p.arch, Platform: "linux", Version: r.version, Release: "1",
		Section: "mail", Priority: "optional", Maintainer: "The Gonebox authors <maintainers@gonebox.invalid>",
		Description: description + "\nGonebox receives mail for mailboxes that are created over HTTP, finds the one-time codes and links in it, and returns\nthem from calls that can wait.",
		Homepage:    repository, License: "Apache-2.0", MTime: r.date,
		Overridables: nfpm.Overridables{
			Depends: []string{depends}, Contents: contents,
			Scripts: nfpm.Scripts{PostInstall: script("postinstall.sh"), PreRemove: script("preremove.sh"), PostRemove: script("postremove.sh")},
			RPM:     nfpm.RPM{BuildHost: "gonebox", Summary: description, Group: "Unspecified"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := packager.Package(info, &body); err != nil {
		return err
	}
	return r.write(packager.ConventionalFileName(info), body.Bytes())
}

// contents returns the files of a package by where they are installed.
func (r *release) contents(p platform, dir string) (files.Contents, error) {
	var all files.Contents
	add := func(f file, kind string) error {
		source := filepath.Join(dir, p.String()+strings.ReplaceAll(f.name, "/", "_"))
		if err := os.WriteFile(source, f.body, 0o600); err != nil {
			return err
		}
		all = append(all, &files.Content{Source: source, Destination: f.name, Type: kind, FileInfo: &files.ContentFileInfo{Mode: f.mode, Owner: "root", Group: "root", MTime: r.date}})
		return nil
	}
	if err := add(file{name: "/usr/bin/gonebox", mode: 0o755, body: r.binaries[p]}, files.TypeFile); err != nil {
		return nil, err
	}
	for _, s := range []struct{ from, to, kind string }{
		{"deploy/gonebox.service", "/usr/lib/systemd/system/gonebox.service", files.TypeFile},
		{"deploy/gonebox.yaml", "/etc/gonebox.yaml", files.TypeConfigNoReplace},
		{"LICENSE", "/usr/share/doc/gonebox/copyright", files.TypeFile},
	} {
		f, err := r.source(s.from, 0o644, s.to)
		if err != nil {
			return nil, err
		}
		if s.kind == files.TypeConfigNoReplace {
			f.mode = 0o640 // it may contain secrets; postinstall.sh lets the service read it
		}
		if err := add(f, s.kind); err != nil {
			return nil, err
		}
	}
	for _, f := range r.shared {
		f, err := installed(f)
		if err != nil {
			return nil, err
		}
		if err := add(f, files.TypeFile); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// installed returns a man page or a completion script as it is installed.
func installed(f file) (file, error) {
	name := path.Base(f.name)
	switch name {
	case "gonebox.bash":
		f.name = "/usr/share/bash-completion/completions/gonebox"
	case "gonebox.zsh":
		f.name = "/usr/share/zsh/vendor-completions/_gonebox"
	case "gonebox.fish":
		f.name = "/usr/share/fish/vendor_completions.d/gonebox.fish"
	default:
		body, err := compressed(f.body)
		if err != nil {
			return file{}, err
		}
		f.name, f.body = "/usr/share/man/man1/"+name+".gz", body
	}
	return f, nil
}
