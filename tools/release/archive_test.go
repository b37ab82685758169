package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unpack returns the files of an archive by name.
func unpack(t *testing.T, path string) map[string]file {
	t.Helper()
	files := make(map[string]file)
	body := []byte(read(t, path))
	if strings.HasSuffix(path, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatalf("zip.NewReader(%s): %v", path, err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatalf("%s: read %s: %v", path, f.Name, err)
			}
			files[f.Name] = file{name: f.Name, mode: f.Mode(), body: content}
		}
		return files
	}
	plain, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("gzip.NewReader(%s): %v", path, err)
	}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatalf("%s: read the archive: %v", path, err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: read %s: %v", path, h.Name, err)
		}
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(made.date) {
			t.Errorf("%s: %s belongs to %d:%d and is of %v, want root and the time of the commit, %v", path, h.Name, h.Uid, h.Gid, h.ModTime, made.date)
		}
		files[h.Name] = file{name: h.Name, mode: h.FileInfo().Mode(), body: content}
	}
}

func TestArchivesHaveProgramManualAndCompletions(t *testing.T) {
	for _, p := range made.platforms {
		name := made.archiveName(p)
		folder := strings.TrimSuffix(strings.TrimSuffix(name, ".zip"), ".tar.gz")
		files := unpack(t, filepath.Join(made.dist, name))
		program := "gonebox"
		if p.os == "windows" {
			program += ".exe"
		}
		want := map[string]uint32{
			program: 0o755, "LICENSE": 0o644, "README.md": 0o644, "gonebox.yaml": 0o644, "man/gonebox.1": 0o644, "man/gonebox-inbox.1": 0o644,
			"completions/gonebox.bash": 0o644, "completions/gonebox.zsh": 0o644, "completions/gonebox.fish": 0o644,
		}
		if p.os == "linux" {
			want["gonebox.service"] = 0o644
		}
		for _, file := range slices.Sorted(maps.Keys(want)) {
			f, ok := files[folder+"/"+file]
			if !ok || len(f.body) == 0 || uint32(f.mode.Perm()) != want[file] {
				t.Errorf("%s: %s: there %v, %d octets, mode %v, want mode %o", name, file, ok, len(f.body), f.mode, want[file])
			}
		}
		if whole() {
			if err := checkProgram(p, files[folder+"/"+program].body); err != nil {
				t.Errorf("%s: checkProgram(%s): %v, want a program for %s on %s", name, program, err, p.os, p.arch)
			}
		}
	}
}

// checkProgram returns an error unless a program is for a platform.
func checkProgram(p platform, body []byte) error {
	r := bytes.NewReader(body)
	var got any
	switch p.os {
	case "linux":
		f, err := elf.NewFile(r)
		if err != nil {
			return err
		}
		for _, s := range f.Progs {
			if s.Type == elf.PT_INTERP {
				return errors.New("it is not static")
			}
		}
		got = f.Machine
	case "darwin":
		f, err := macho.NewFile(r)
		if err != nil {
			return err
		}
		got = f.Cpu
	case "windows":
		f, err := pe.NewFile(r)
		if err != nil {
			return err
		}
		got = f.Machine
	}
	want := map[platform]any{
		{"linux", "amd64"}: elf.EM_X86_64, {"linux", "arm64"}: elf.EM_AARCH64, {"darwin", "amd64"}: macho.CpuAmd64, {"darwin", "arm64"}: macho.CpuArm64,
		{"windows", "amd64"}: uint16(pe.IMAGE_FILE_MACHINE_AMD64), {"windows", "arm64"}: uint16(pe.IMAGE_FILE_MACHINE_ARM64),
	}[p]
	if got != want {
		return fmt.Errorf("it is for the machine %v, want %v", got, want)
	}
	return nil
}

func TestChecksumsAreRight(t *testing.T) {
	output(t, made.dist, nil, "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	sums, err := sumsOf(made.dist)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, filepath.Join(made.dist, "SHA256SUMS"))
	for name, sum := range sums {
		if name != "SHA256SUMS" && !strings.Contains(text, sum+"  "+name+"\n") {
			t.Errorf("SHA256SUMS has no line for %s, want one with %s", name, sum)
		}
	}
}

// TestSecondReleaseHasSameOctets makes the release again. Without a whole one the programs are empty.
func TestSecondReleaseHasSameOctets(t *testing.T) {
	var sums [2]map[string]string
	for i := range sums {
		again := &release{root: made.root, dist: filepath.Join(t.TempDir(), "dist"), version: made.version, date: made.date, platforms: made.platforms}
		if whole() && i == 0 {
			again.dist = made.dist
		} else {
			if !whole() {
				empty, err := emptyProgram(t.Context(), t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				again.binaries = make(map[platform][]byte)
				for _, p := range again.platforms {
					again.binaries[p] = empty
				}
				again.shared, again.without = made.shared, made.without
			}
			if err := again.make(context.WithoutCancel(t.Context())); err != nil {
				t.Fatalf("make the release again: %v", err)
			}
		}
		var err error
		if sums[i], err = sumsOf(again.dist); err != nil {
			t.Fatal(err)
		}
	}
	for name, sum := range sums[0] {
		if sums[1][name] != sum {
			t.Errorf("%s: the second release has the sum %q, want %q as the first", name, sums[1][name], sum)
		}
	}
	if len(sums[0]) != len(sums[1]) || len(sums[0]) < 20 {
		t.Errorf("the first release has %d files and the second %d, want the same number, at least 20", len(sums[0]), len(sums[1]))
	}
}
