// Package house_test checks the rules of this repository, which docs/architecture.md and CONTRIBUTING.md list.
package house_test

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Files and functions above these sizes are split by subject.
const (
	maxFileLines     = 500
	maxFunctionLines = 60
)

// Exceptions to the sizes, each with its reason. They should stay empty.
var (
	longFiles     = map[string]string{}
	longFunctions = map[string]string{ // by file:function
		"internal/mailparse/filename.go:extension": "a table of media types, written as a switch: a row a line",
	}
)

// clockCalls are the functions of package time that read the clock or wait for it. Only internal/clock may call them; a
// socket deadline is computed from clock.System().Now().
var clockCalls = []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}

// ownClock lists the calls that are allowed elsewhere, as file:function, each with its reason.
var ownClock = map[string]string{
	"internal/db/residue.go:Sleep":   "microseconds in which another thread completes what it writes; nothing is decided by them",
	"internal/wake/wake.go:NewTimer": "a duration is slept, no time is read; synctest runs it in no time",
}

// randomness lists the files that may use math/rand, which is predictable.
var randomness = map[string]string{
	"internal/app/apptest/address.go": "tests of several processes should not look for free ports at the same place",
}

// bodyReaders lists the files that may use the body of a request beside package body.
var bodyReaders = map[string]string{
	"internal/netguard/transport.go": "it sends requests and receives none",
	"internal/oidc/http.go":          "it sends requests and receives none",
}

// exportedVariables lists, as package.name, the exported variables that are not errors.
var exportedVariables = map[string]string{
	"internal/app.Version": "the linker sets it when a release is built",
}

// changingVariables lists, as package.name, the package-level variables that may be assigned to.
var changingVariables = map[string]string{
	"internal/app/apptest.handedOut": "no test of a process may be given an address that another one was given",
	"internal/app/apptest.idle":      "a child process serves the tests of the program one after the other",
	"internal/httpkit.once":          "the library keeps how errors are made in variables of its own: they are set once",
}

func TestImportsFollowTheTable(t *testing.T) {
	for _, f := range house(t) {
		if f.test {
			continue
		}
		allowed, known := mayImport(f.dir)
		if !known {
			t.Errorf("%s: package %s has no row: add one to the table in house_imports_test.go and a line to docs/architecture.md", f.path, f.dir)
			continue
		}
		for _, i := range f.Imports {
			target, ours := strings.CutPrefix(unquote(i.Path.Value), module+"/")
			if ours && !slices.Contains(allowed, target) {
				t.Errorf("%s: %s may not import %s: declare an interface of what it needs, and let internal/app pass it (docs/architecture.md, Who may import whom)", f.at(i), f.dir, target)
			}
		}
	}
}

func TestOnlyClockPackageReadsTime(t *testing.T) {
	for _, f := range house(t) {
		if f.test || f.dir == "internal/clock" || below(f.dir, "test") || !f.imports("time") {
			continue
		}
		for call := range nodes[*ast.SelectorExpr](f) {
			name := call.Sel.Name
			if isIdent(call.X, "time") && slices.Contains(clockCalls, name) && ownClock[f.path+":"+name] == "" {
				t.Errorf("%s: time.%s: pass a time or a clock.Clock instead", f.at(call), name)
			}
		}
	}
}

// The body of a request is read by package body alone, which bounds it: a handler that decoded r.Body itself would take
// memory that no budget knows.
func TestOnlyPackageBodyReadsRequests(t *testing.T) {
	for _, f := range house(t) {
		if f.test || f.dir == "internal/body" || below(f.dir, "test") || below(f.dir, "internal/app/apptest") || !f.imports("net/http") {
			continue
		}
		assigned := make(map[ast.Expr]bool)
		for set := range nodes[*ast.AssignStmt](f) {
			for _, to := range set.Lhs {
				assigned[to] = true
			}
		}
		requests := requestNames(f)
		for use := range nodes[*ast.SelectorExpr](f) {
			if name := lastName(use.X); use.Sel.Name == "Body" && !assigned[use] && requests[name] && bodyReaders[f.path] == "" {
				t.Errorf("%s: reads %s.Body: read the body of a request with httpkit.Kit.ReadJSON or body.Read, which bound it", f.at(use), name)
			}
			for _, method := range []string{"ParseForm", "ParseMultipartForm", "MultipartReader", "FormValue", "PostFormValue", "FormFile"} {
				if use.Sel.Name == method {
					t.Errorf("%s: %s reads the body of a request without a bound", f.at(use), method)
				}
			}
		}
	}
}

// lastName returns the last name of an identifier or a selector, such as request of c.request.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// requestNames returns the names of the parameters and fields of a file that are declared as *http.Request.
func requestNames(f *file) map[string]bool {
	names := make(map[string]bool)
	for field := range nodes[*ast.Field](f) {
		star, ok := field.Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if typ, ok := star.X.(*ast.SelectorExpr); !ok || !isIdent(typ.X, "http") || typ.Sel.Name != "Request" {
			continue
		}
		for _, name := range field.Names {
			names[name.Name] = true
		}
	}
	return names
}

func TestOnlyTestsUseMathRand(t *testing.T) {
	for _, f := range house(t) {
		if !f.test && !below(f.dir, "test") && (f.imports("math/rand") || f.imports("math/rand/v2")) && randomness[f.path] == "" {
			t.Errorf("%s: imports math/rand; what must not be guessed comes from crypto/rand", f.path)
		}
	}
}

var statement = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|CREATE|ALTER|DROP)\s`)

func TestSQLIsInSQLFiles(t *testing.T) {
	for _, f := range house(t) {
		if f.test || path.Base(f.path) == "sql.go" || f.dir == "internal/db" {
			continue
		}
		for text := range nodes[*ast.BasicLit](f) {
			if text.Kind == token.STRING && statement.MatchString(unquote(text.Value)) {
				t.Errorf("%s: an SQL statement outside %s/sql.go", f.at(text), f.dir)
			}
		}
	}
}

func TestNoInitFunctions(t *testing.T) {
	for _, f := range house(t) {
		for _, fn := range f.functions() {
			if fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init: let the caller make what it needs", f.at(fn))
			}
		}
	}
}

func TestPackagesHaveNoState(t *testing.T) {
	for dir, files := range packages(t) {
		variables := make(map[string]bool)
		for _, f := range files {
			for name, spec := range f.variables() {
				id := dir + "." + name
				if ast.IsExported(name) && !strings.HasPrefix(name, "Err") && exportedVariables[id] == "" {
					t.Errorf("%s: exported variable %s: make it a constant, a function or a field", f.at(spec), name)
				}
				variables[name] = name != "_" && changingVariables[id] == "" && exportedVariables[id] == ""
				if variables[name] && holdsState(spec) {
					t.Errorf("%s: %s holds state: make it a field of what uses it", f.at(spec), name)
				}
			}
		}
		for _, f := range files {
			for _, fn := range f.functions() {
				for at, name := range assigned(fn) {
					if variables[name] {
						t.Errorf("%s: %s changes the package's variable %s", f.at(at), fn.Name.Name, name)
					}
				}
			}
		}
	}
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	for _, f := range house(t) {
		if f.test {
			continue
		}
		if n := f.line(f.FileEnd); n > maxFileLines && longFiles[f.path] == "" {
			t.Errorf("%s: got %d lines, want %d at most: split it by subject", f.path, n, maxFileLines)
		}
		for _, fn := range f.functions() {
			n := f.line(fn.End()) - f.line(fn.Pos()) + 1
			if n > maxFunctionLines && longFunctions[f.path+":"+fn.Name.Name] == "" {
				t.Errorf("%s: %s: got %d lines, want %d at most", f.at(fn), fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	said := make(map[string]bool)
	for _, f := range house(t) {
		said[f.dir] = said[f.dir] || f.Doc != nil && strings.HasSuffix(strings.TrimSpace(f.Doc.Text()), ".")
	}
	for _, dir := range slices.Sorted(maps.Keys(said)) {
		if !said[dir] {
			t.Errorf("%s: no package comment in full sentences", dir)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range house(t) {
		if f.test {
			continue
		}
		for at, name := range f.unexplained() {
			t.Errorf("%s: exported %s has no comment", f.at(at), name)
		}
	}
}

func TestPackagesAreNamedAfterANoun(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "model", "models", "misc", "shared", "base", "core", "types", "lib"}
	for dir := range packages(t) {
		if slices.Contains(empty, path.Base(dir)) {
			t.Errorf("%s: the name says nothing; put the code where the noun it speaks of lives", dir)
		}
	}
}

var saysNothing = regexp.MustCompile(`^(Test|Fuzz|Benchmark)(_|[0-9]|$)|(Basic|Simple|Misc|Stuff|Works|Foo|Bug|Issue|[^0-9][0-9])$`)

func TestTestNamesSayWhatHolds(t *testing.T) {
	for _, f := range house(t) {
		for _, fn := range f.functions() {
			name := fn.Name.Name
			if f.test && fn.Recv == nil && name != "TestMain" && strings.HasPrefix(name, "Test") && saysNothing.MatchString(name) {
				t.Errorf("%s: got the name %s, want one that says what holds", f.at(fn), name)
			}
		}
	}
}

// A migration number belongs to one name, whose text is for both engines, for one, or for each its own.
func TestMigrationNumbersAreUnique(t *testing.T) {
	files, err := filepath.Glob("internal/db/migrations/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("internal/db/migrations: got no files and the error %v, want some", err)
	}
	form := regexp.MustCompile(`^([0-9]{5})_([a-z0-9_]+)(\.sqlite|\.postgres)?\.sql$`)
	taken := make(map[string]string)
	for _, file := range files {
		m := form.FindStringSubmatch(filepath.Base(file))
		if m == nil {
			t.Errorf("%s: got this name, want NNNNN_what_it_does.sql", file)
			continue
		}
		if other := taken[m[1]]; other != "" && other != m[2] {
			t.Errorf("%s: got the number of %s, want one of its own", file, other)
		}
		taken[m[1]] = m[2]
	}
}

func TestExceptionsAreStillNeeded(t *testing.T) {
	for _, table := range []map[string]string{longFiles, longFunctions, ownClock, randomness, bodyReaders} {
		for key, reason := range table {
			file, _, _ := strings.Cut(key, ":")
			if _, err := os.Stat(file); err != nil || reason == "" {
				t.Errorf("exception %q: got the reason %q and, of its file, the error %v, want a reason and a file", key, reason, err)
			}
		}
	}
}

// below reports whether dir is a folder or inside it. Code below test/ may read the real time and use predictable data.
func below(dir, folder string) bool { return dir == folder || strings.HasPrefix(dir, folder+"/") }

func unquote(literal string) string {
	text, err := strconv.Unquote(literal)
	if err != nil {
		return literal
	}
	return text
}
