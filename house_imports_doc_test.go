package house_test

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of docs/architecture.md")

// Between these lines docs/architecture.md has the import table.
const (
	importsBegin = "<!-- import table: go test . -run TestDocHasImportTable -update -->\n"
	importsEnd   = "<!-- end of the import table -->\n"
)

func TestDocHasImportTable(t *testing.T) {
	const path = "docs/architecture.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the page: %v", err)
	}
	before, rest, begins := strings.Cut(string(text), importsBegin)
	_, after, ends := strings.Cut(rest, importsEnd)
	if !begins || !ends {
		t.Fatalf("%s has no lines %q and %q", path, importsBegin, importsEnd)
	}
	want := before + importsBegin + importTable() + importsEnd + after
	if string(text) == want {
		return
	}
	if !*update {
		t.Fatalf("the import table in %s is out of date; run go test . -run TestDocHasImportTable -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatalf("write the page: %v", err)
	}
}

// importTable returns the rows of imports in Markdown. Packages that may import the same share a row.
func importTable() string {
	rows := make(map[string][]string) // packages by what they may import
	for dir, allowed := range imports {
		rows[describe(allowed)] = append(rows[describe(allowed)], strings.TrimPrefix(dir, "internal/"))
	}
	var lines []string
	for allowed, dirs := range rows {
		slices.Sort(dirs)
		lines = append(lines, "| "+strings.Join(dirs, ", ")+" | "+allowed+" |\n")
	}
	slices.Sort(lines)
	lines = append(lines, "| what is below test/ | "+describe(outside)+" |\n")
	return "| package | may import, of this module |\n|---|---|\n" + strings.Join(lines, "")
}

// describe names the packages of a list, with the kit and the domains as wholes.
func describe(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	left := make(map[string]bool)
	for _, dir := range list {
		left[dir] = true
	}
	var words []string
	take := func(name string, all []string) bool {
		for _, dir := range all {
			if !left[dir] {
				return false
			}
		}
		words = append(words, name)
		for _, dir := range all {
			delete(left, dir)
		}
		return true
	}
	_ = take("the kit", kit) || take("the kit without db and job", without(kit, "db", "job"))
	take("the domains", domains)
	for _, dir := range slices.Sorted(maps.Keys(left)) {
		words = append(words, strings.TrimPrefix(dir, "internal/"))
	}
	return strings.Join(words, ", ")
}
