// Command update takes the data about mail clients from the npm package caniemail and writes what the checks need of it. It is run by
// go generate ./internal/mailcheck, with npm installed. For another version of the package, change the constants here.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	version   = "2.0.2"
	integrity = "sha512-lvhn4RrF2Ae3PQA3HMOVGxFPqPAxfv8HWp+xUSqJPumbzFUzQGVgFG0nl8s0sjSoBd2PgmAqB5xRF0wcPbrVcA==" // of the package, as its registry and lock files have it

	dataFile    = "caniemail.json.gz"
	licenceFile = "caniemail.LICENSE.txt"
)

func main() {
	if err := update(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "update:", err)
		os.Exit(1)
	}
}

// update writes both files into the current folder.
func update(ctx context.Context) error {
	packed, err := download(ctx)
	if err != nil {
		return err
	}
	files, err := unpack(packed, "package/data/caniemail.json", "package/LICENSE")
	if err != nil {
		return err
	}
	data, err := compact(files[0])
	if err != nil {
		return err
	}
	if err := os.WriteFile(dataFile, data, 0o644); err != nil { //nolint:gosec // a source file
		return err
	}
	return os.WriteFile(licenceFile, files[1], 0o644) //nolint:gosec // a source file
}

// download returns the package as npm packs it, once it is what integrity says.
func download(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "caniemail")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	npm := exec.CommandContext(ctx, "npm", "pack", "--silent", "caniemail@"+version)
	npm.Dir, npm.Stderr = dir, os.Stderr
	name, err := npm.Output()
	if err != nil {
		return nil, fmt.Errorf("npm pack: %w", err)
	}
	packed, err := os.ReadFile(filepath.Join(dir, filepath.Base(strings.TrimSpace(string(name)))))
	if err != nil {
		return nil, err
	}
	if sum := sha512.Sum512(packed); "sha512-"+base64.StdEncoding.EncodeToString(sum[:]) != integrity {
		return nil, errors.New("the package is not the one that was reviewed")
	}
	return packed, nil
}

// unpack returns the contents of the named files.
func unpack(packed []byte, names ...string) ([][]byte, error) {
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	found := make([][]byte, len(names))
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		for i, name := range names {
			if header.Name != name {
				continue
			}
			if found[i], err = io.ReadAll(archive); err != nil {
				return nil, err
			}
		}
	}
	for i, name := range names {
		if found[i] == nil {
			return nil, fmt.Errorf("the package has no %s", name)
		}
	}
	return found, nil
}

// names are the names of what the data has keys for, as they are shown.
type names struct {
	Family   map[string]string `json:"family"`
	Platform map[string]string `json:"platform"`
}

// feature is a feature in the package.
type feature struct {
	Slug, Title, Description, Category string
	Tags                               []string
	Notes                              map[string]string `json:"notes_by_num"`
	Stats                              members
}

// compact returns the data without what the checks do not use. Its form is that of package mailcheck's file.
func compact(source []byte) ([]byte, error) {
	var in struct {
		Updated string `json:"last_update_date"`
		Names   names  `json:"nicenames"`
		Data    []feature
	}
	if err := json.Unmarshal(source, &in); err != nil {
		return nil, err
	}
	type entry struct {
		Slug        string            `json:"slug"`
		Title       string            `json:"title"`
		Description string            `json:"description,omitempty"`
		Category    string            `json:"category"`
		Tags        []string          `json:"tags,omitempty"`
		Notes       map[string]string `json:"notes,omitempty"`
		Stats       []string          `json:"stats"` // "family platform|version support|…", the oldest version first
	}
	out := struct {
		Version  string  `json:"version"`
		Date     string  `json:"date"`
		Names    names   `json:"names"`
		Features []entry `json:"features"`
	}{Version: version, Date: in.Updated[:len("2006-01-02")], Names: in.Names}
	for _, f := range in.Data {
		if f.Category == "others" {
			continue // what no HTML or CSS shows
		}
		stats, err := flatten(f.Stats)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Slug, err)
		}
		out.Features = append(out.Features, entry{f.Slug, f.Title, f.Description, f.Category, f.Tags, f.Notes, stats})
	}
	text, err := json.MarshalIndent(out, "", "")
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	err = writer.Close()
	return packed.Bytes(), err
}

// flatten returns a row for each family and platform.
func flatten(families members) (rows []string, err error) {
	for _, family := range families {
		var platforms members
		if err := json.Unmarshal(family.value, &platforms); err != nil {
			return nil, err
		}
		for _, platform := range platforms {
			var versions members
			if err := json.Unmarshal(platform.value, &versions); err != nil {
				return nil, err
			}
			row := family.name + " " + platform.name
			for _, v := range versions {
				var support string
				if err := json.Unmarshal(v.value, &support); err != nil {
					return nil, err
				}
				row += "|" + v.name + " " + support
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// members are the members of a JSON object in their order, in which the versions of a client are sorted by age.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

func (m *members) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := name.(string)
		if !ok {
			return fmt.Errorf("%v is not the name of a member", name)
		}
		next := member{name: key}
		if err := d.Decode(&next.value); err != nil {
			return err
		}
		*m = append(*m, next)
	}
	return nil
}
