package licences_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/licences"
)

var update = flag.Bool("update", false, "write licences.txt anew")

// legal matches the names of the files that a licence asks to be passed on with binaries.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// systems are those that the program is built for. The modules that are compiled in differ a little.
var systems = []string{"linux", "darwin", "windows"}

// TestDocLicences compares licences.txt with the licence files of the modules that are compiled in.
func TestDocLicences(t *testing.T) {
	want := render(texts(t))
	if *update {
		if err := os.WriteFile("licences.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != licences.Text() {
		t.Error("licences.txt differs from what the modules say, want it written anew: go test ./internal/licences -update")
	}
}

// source is a module or another piece of work with its legal files.
type source struct {
	name  string // with the version
	files map[string]string
}

// texts returns the legal texts, each with the sources it covers.
func texts(t *testing.T) map[string][]string {
	t.Helper()
	all := append(modules(t), documentation(t), clients(t))
	all = append(all, page(t)...)
	i := slices.IndexFunc(all, func(s source) bool { return strings.HasPrefix(s.name, "golang.org/x/sys ") })
	all = append(all, source{"Go (runtime and standard library)", all[i].files}) // the same licence, wherever Go is installed
	covers := make(map[string][]string)
	for _, s := range all {
		if len(s.files) == 0 {
			t.Errorf("%s has no licence file, want at least one", s.name)
		}
		for _, text := range s.files {
			text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
			if !slices.Contains(covers[text], s.name) {
				covers[text] = append(covers[text], s.name)
			}
		}
	}
	return covers
}

// modules are those with a package that the program imports, on any of the systems, other than this one.
func modules(t *testing.T) []source {
	t.Helper()
	type module struct {
		Path, Version, Dir string
		Main               bool
	}
	found := make(map[string]source)
	for _, system := range systems {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Module", "../../cmd/gonebox")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("list the packages on %s: %v", system, err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if m := p.Module; m != nil && !m.Main && found[m.Path].name == "" {
				found[m.Path] = source{m.Path + " " + m.Version, legalFiles(t, m.Dir)}
			}
		}
	}
	return slices.Collect(maps.Values(found))
}

func legalFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, e := range entries {
		if !e.Type().IsRegular() || !legal.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// page is what is built into the scripts and styles of the page, as make web wrote it.
func page(t *testing.T) (all []source) {
	t.Helper()
	text, err := os.ReadFile("../webui/docs/page.LICENSE.txt")
	if err != nil {
		t.Fatal(err)
	}
	for section := range strings.SplitSeq(string(text), "\n"+strings.Repeat("-", 80)+"\n\n") {
		name, licence, found := strings.Cut(section, "\n\n")
		if !found {
			t.Errorf("page.LICENSE.txt has the section %q, want a licence below each name", section)
		}
		all = append(all, source{name + " (page)", map[string]string{"LICENSE": licence}})
	}
	return all
}

// documentation is what the embedded documentation page is drawn with.
func documentation(t *testing.T) source {
	t.Helper()
	packed, err := os.Open("../webui/docs/swagger-ui.LICENSE.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	return source{"swagger-ui-dist (documentation page)", map[string]string{"LICENSE": string(text)}}
}

// clients is the data about mail clients, which package mailcheck embeds.
func clients(t *testing.T) source {
	t.Helper()
	text, err := os.ReadFile("../mailcheck/caniemail.LICENSE.txt")
	if err != nil {
		t.Fatal(err)
	}
	return source{"caniemail 2.0.2 (data about mail clients)", map[string]string{"LICENSE": string(text)}}
}

// render writes each text once, below the sources it covers.
func render(covers map[string][]string) string {
	type section struct{ names, text string }
	var sections []section
	for text, names := range covers {
		slices.Sort(names)
		sections = append(sections, section{strings.Join(names, "\n"), text})
	}
	slices.SortFunc(sections, func(a, b section) int {
		return cmp.Or(strings.Compare(a.names, b.names), strings.Compare(a.text, b.text))
	})
	var b strings.Builder
	b.WriteString("Gonebox is licensed under the Apache License 2.0. It contains the following works of others.\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), s.names, s.text)
	}
	return b.String()
}
