package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file, or a folder if its mode says so, of an archive.
type file struct {
	name  string // with slashes
	mode  fs.FileMode
	owner int // user and group, 0 for root
	body  []byte
}

// below returns files with a folder in front of their names.
func below(dir string, files []file) []file {
	files = slices.Clone(files)
	for i := range files {
		files[i].name = path.Join(dir, files[i].name)
	}
	return files
}

// sorted returns files in the order of their names.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// tarball returns a tar archive whose octets depend on its arguments alone.
func tarball(files []file, date time.Time) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range sorted(files) {
		h := &tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.body)), ModTime: date, Uid: f.owner, Gid: f.owner}
		if f.mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, f.name+"/"
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}

// compressed returns a gzip file without a name and a time.
func compressed(body []byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err = w.Close()
	return buf.Bytes(), err
}

// zipped returns a zip archive whose octets depend on its arguments alone.
func zipped(files []file, date time.Time) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}

// archives writes an archive for each platform: the program with its manual, completions and an example of its configuration.
func (r *release) archives(context.Context) error {
	for _, p := range r.platforms {
		files := slices.Clone(r.shared)
		sources := map[string]string{"LICENSE": "LICENSE", "README.md": "README.md", "deploy/gonebox.yaml": "gonebox.yaml"}
		binary := "gonebox"
		switch p.os {
		case "linux":
			sources["deploy/gonebox.service"] = "gonebox.service"
		case "windows":
			binary = "gonebox.exe"
		}
		files = append(files, file{name: binary, mode: 0o755, body: r.binaries[p]})
		for name, as := range sources {
			f, err := r.source(name, 0o644, as)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		name := r.archiveName(p)
		folder := strings.TrimSuffix(strings.TrimSuffix(name, ".zip"), ".tar.gz")
		if err := r.archive(name, below(folder, files)); err != nil {
			return err
		}
	}
	return nil
}

// archiveName returns the name of the archive for a platform.
func (r *release) archiveName(p platform) string {
	suffix := ".tar.gz"
	if p.os == "windows" {
		suffix = ".zip"
	}
	return "gonebox_" + r.version + "_" + p.String() + suffix
}

// archive writes an archive in the format that its name says.
func (r *release) archive(name string, files []file) error {
	var body []byte
	var err error
	if strings.HasSuffix(name, ".zip") {
		body, err = zipped(files, r.date)
	} else if body, err = tarball(files, r.date); err == nil && !strings.HasSuffix(name, ".tar") {
		body, err = compressed(body)
	}
	if err != nil {
		return err
	}
	return r.write(name, body)
}
