package main

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// someSecret returns a master secret as the configuration has it.
func someSecret(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

// writePrivate writes a file that only its owner may use.
func writePrivate(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// filesBelow returns the paths of the files in a folder and its subfolders.
func filesBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// An empty database beside what a service has left behind was lost, or is not the one that was meant.
func TestEmptyDatabaseBesideASecretIsRefused(t *testing.T) {
	const segment = "raw/20260131T121520Z-900-00c0ffee.segment"
	for name, files := range map[string][]string{
		"without a database":                      {"secret.key"},
		"with an empty file":                      {"secret.key", "gonebox.db"},
		"with earlier secrets":                    {"secret.previous"},
		"with raw messages and a secret set":      {segment},
		"with raw messages beside an empty file ": {segment, "gonebox.db"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range files {
				text := someSecret("k")
				if file == "gonebox.db" {
					text = ""
				}
				writePrivate(t, filepath.Join(dir, file), text)
			}
			for _, line := range []string{"migrate --data-dir " + dir, "serve --http-addr 127.0.0.1:0 --smtp-addr 127.0.0.1:0 --data-dir " + dir} {
				gonebox(t, line).wantError(t, line, exitFailure, "--set database.start_empty=true")
				if got, want := filesBelow(t, dir), slices.Sorted(slices.Values(files)); !slices.Equal(got, want) {
					t.Errorf("after gonebox %s: the folder has %q, want %q", line, got, want)
				}
			}
			line := "migrate --set database.start_empty=true --data-dir " + dir
			if got := gonebox(t, line); got.code != exitOK || !strings.Contains(got.out, "Migrated") {
				t.Errorf("gonebox %s: code %d, want 0 and \"Migrated\" in its output\n%s%s", line, got.code, got.out, got.err)
			}
			line = "migrate --data-dir " + dir // the database is not empty any more
			if got := gonebox(t, line); got.code != exitOK {
				t.Errorf("gonebox %s: code %d, want 0\n%s%s", line, got.code, got.out, got.err)
			}
		})
	}
}

// A first start finds at most the folder of raw messages, which a start that failed may have created.
func TestFirstStartNeedsNoPermission(t *testing.T) {
	for name, files := range map[string][]string{"nothing": nil, "after a start that failed": {"raw/LOCK", "gonebox.db", "reserve"}} {
		dir := t.TempDir()
		for _, file := range files {
			writePrivate(t, filepath.Join(dir, file), "")
		}
		line := "migrate --data-dir " + dir
		if got := gonebox(t, line); got.code != exitOK {
			t.Errorf("with %s: gonebox %s: code %d, want 0\n%s", name, line, got.code, got.err)
		}
	}
}

// Moving an empty database would replace nothing by nothing, and mark the target as complete.
func TestEmptyDatabaseIsNotMoved(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	writePrivate(t, filepath.Join(from, "gonebox.db"), "")
	writePrivate(t, filepath.Join(from, "secret.key"), someSecret("k"))
	line := "migrate --from sqlite:" + from + " --data-dir " + to + " --set secrets.key=" + someSecret("k")
	gonebox(t, line).wantError(t, line, exitFailure, "no service has run on it")
}
