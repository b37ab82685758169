package house_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// link matches a link to a file of the repository, a heading of a page, or both. Addresses of other machines have a colon.
var link = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^):]*))?\)`)

func TestDocLinksResolve(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if err := resolve(t, to, m[2]); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", page, err)
			}
		}
	}
}

// citation matches a page of docs in a comment, with the anchor of one of its headings or without.
var citation = regexp.MustCompile(`\b(docs/[a-z0-9/-]+\.md)(?:#([a-z0-9-]+))?`)

func TestPagesThatCommentsCiteExist(t *testing.T) {
	for _, f := range house(t) {
		for _, group := range f.Comments {
			for _, m := range citation.FindAllStringSubmatch(group.Text(), -1) {
				if err := resolve(t, m[1], m[2]); err != nil {
					t.Errorf("%s: a citation leads nowhere: %v", f.at(group), err)
				}
			}
		}
	}
}

// resolve returns an error unless the file exists and, if anchor is not empty, has a heading with that anchor.
func resolve(t *testing.T, file, anchor string) error {
	t.Helper()
	if _, err := os.Stat(file); err != nil || anchor == "" || filepath.Ext(file) != ".md" {
		return err
	}
	for _, m := range heading.FindAllStringSubmatch(read(t, file), -1) {
		if anchorOf(m[1]) == anchor {
			return nil
		}
	}
	return fmt.Errorf("%s has no heading #%s", file, anchor)
}

var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// anchorOf returns the anchor that GitHub makes of a heading: lower case, hyphens for spaces, no punctuation.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, heading)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

func TestEveryDecisionIsInItsIndex(t *testing.T) {
	index, err := os.ReadFile("docs/decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found, _ := filepath.Glob("docs/decisions/[0-9]*.md")
	form := regexp.MustCompile(`^[0-9]{4}-[a-z0-9-]+\.md$`)
	numbers := make(map[string]string)
	for _, page := range found {
		name := filepath.Base(page)
		if !form.MatchString(name) || !strings.Contains(string(index), "("+name+")") {
			t.Errorf("%s: its name should be NNNN-what-it-is.md, and docs/decisions/README.md should list it", page)
		}
		if other := numbers[name[:4]]; other != "" {
			t.Errorf("%s and %s have the same number", name, other)
		}
		numbers[name[:4]] = name
	}
}

// mention is a decision that code or a page refers to.
var mention = regexp.MustCompile(`docs/decisions/([0-9]{4})`)

func TestDecisionsThatCommentsNameExist(t *testing.T) {
	for _, f := range house(t) {
		for _, group := range f.Comments {
			for _, m := range mention.FindAllStringSubmatch(group.Text(), -1) {
				if found, _ := filepath.Glob("docs/decisions/" + m[1] + "-*.md"); len(found) != 1 {
					t.Errorf("%s: there is no decision %s", f.at(group), m[1])
				}
			}
		}
	}
}

var dependency = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (v[^ ]+) \\|")

// docs/dependencies.md has a row for each module that the code imports, with the version in go.mod, and no other rows.
func TestEveryDependencyIsExplained(t *testing.T) {
	pinned := requirements(t)
	used := make(map[string]string)
	for _, f := range house(t) {
		for _, i := range f.Imports {
			if m := moduleOf(unquote(i.Path.Value), pinned); m != "" {
				used[m] = f.at(i)
			}
		}
	}
	text, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for _, m := range dependency.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = m[2]
	}
	for m, at := range used {
		if rows[m] != pinned[m] {
			t.Errorf("%s: %s %s has no row in docs/dependencies.md (there: %q)", at, m, pinned[m], rows[m])
		}
	}
	for m := range rows {
		if used[m] == "" {
			t.Errorf("docs/dependencies.md: no package imports %s", m)
		}
	}
}

// requirements are the modules of go.mod with their versions.
func requirements(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	pinned := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(words) >= 2 && strings.HasPrefix(words[1], "v") {
			pinned[words[0]] = words[1]
		}
	}
	return pinned
}

// moduleOf is the module that a package belongs to, "" for the standard library and this module.
func moduleOf(pkg string, pinned map[string]string) string {
	for name := pkg; name != ""; name = name[:max(strings.LastIndexByte(name, '/'), 0)] {
		if _, found := pinned[name]; found {
			return name
		}
	}
	return ""
}

// named matches a name in docs/architecture.md: package.Name or package.Type.Method, in backquotes.
var named = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z]*|[a-z]+[A-Z]?[A-Za-z]*)(?:\\.([A-Za-z]+))?`")

// docs/architecture.md follows a mail through the code by names. Each of them exists.
func TestArchitectureNamesExist(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := declarations(t)
	checked := 0
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		pkg, name := m[1], m[2]
		if m[3] != "" {
			name = m[3]
		}
		if declared[pkg] == nil || name == "go" || name == "md" { // not a package of ours, or a file
			continue
		}
		checked++
		if !declared[pkg][name] {
			t.Errorf("docs/architecture.md: %s: package %s has no %s", m[0], pkg, name)
		}
	}
	if checked < 20 {
		t.Errorf("only %d names were found: has the page changed its form?", checked)
	}
}

// declarations are the names that each package declares, with methods and fields.
func declarations(t *testing.T) map[string]map[string]bool {
	t.Helper()
	declared := make(map[string]map[string]bool)
	for dir, files := range packages(t) {
		names := make(map[string]bool)
		for _, f := range files {
			for n := range nodes[ast.Node](f) {
				switch n := n.(type) {
				case *ast.FuncDecl:
					names[n.Name.Name] = true
				case *ast.TypeSpec:
					names[n.Name.Name] = true
				case *ast.Field:
					for _, name := range n.Names {
						names[name.Name] = true
					}
				}
			}
		}
		declared[filepath.Base(dir)] = names
	}
	return declared
}

// The service has every metric that docs/operating.md names.
func TestDocumentedMetricsExist(t *testing.T) {
	page, err := os.ReadFile("docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var source []byte
	for _, file := range []string{"metrics", "counts", "gauges"} {
		text, err := os.ReadFile("internal/app/" + file + ".go")
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	names := regexp.MustCompile(`gonebox_[a-z_]*[a-z]`).FindAllString(string(page), -1)
	if len(names) == 0 {
		t.Error("operators are told of no metric")
	}
	for _, name := range names {
		measured := strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
		if !strings.Contains(string(source), `"`+measured+`"`) {
			t.Errorf("docs/operating.md names %s, which does not exist", name)
		}
	}
}

// goVersion matches the version of Go that a module needs.
var goVersion = regexp.MustCompile(`(?m)^go (.*)$`)

// A flaw of the standard library is in every program that was built with it, so that all modules need the version that mends it. The
// client of other programs leaves the choice to them.
func TestModulesNeedTheSameGo(t *testing.T) {
	want := goVersion.FindStringSubmatch(read(t, "go.mod"))[1]
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "docs/dependencies.md"} {
		if !strings.Contains(read(t, page), "Go "+want) {
			t.Errorf("%s does not name Go %s, the version in go.mod", page, want)
		}
	}
	for _, file := range filesNamed(t, "go.mod") {
		if filepath.Dir(file) == filepath.Join("clients", "go") {
			continue
		}
		if got := goVersion.FindStringSubmatch(read(t, file)); len(got) != 2 || got[1] != want {
			t.Errorf("%s: go directive %q, want that of go.mod, go %s", file, got, want)
		}
	}
}

// filesNamed returns the files of the repository with a name.
func filesNamed(t *testing.T, name string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if err == nil && d.Name() == name {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// newestVersion matches the newest heading of the changelog, from which a release takes its version.
var newestVersion = regexp.MustCompile(`(?m)\A# Changelog\n(?:[^#\n].*\n|\n)*## (\d+\.\d+\.\d+)\n`)

func TestChangelogBeginsWithAVersion(t *testing.T) {
	text := read(t, "CHANGELOG.md")
	if !newestVersion.MatchString(text) {
		t.Errorf("CHANGELOG.md begins with\n%.300s\nwant the title, what it is, and a heading like ## 1.2.3 alone on its line", text)
	}
	seen := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		if seen[m[1]] {
			t.Errorf("CHANGELOG.md has the heading %q twice", m[1])
		}
		seen[m[1]] = true
	}
}
