package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// file is a Go file of this module.
type file struct {
	*ast.File
	path string // from the root, with slashes
	dir  string
	test bool // a _test.go file
}

var tree = sync.OnceValues(func() ([]*file, error) { return parseTree(".") })

// house lists every Go file of the module; clients/ is for programs that know nothing of the service but its API.
func house(t *testing.T) []*file {
	t.Helper()
	files, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}

// tools lists the Go files outside the module: those of the clients and of the makers of releases.
func tools(t *testing.T) []*file {
	t.Helper()
	var all []*file
	for _, root := range []string{"clients/go", "tools/charttest", "tools/release"} {
		files, err := parseTree(root)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	return all
}

// packages groups the files that are not tests by folder.
func packages(t *testing.T) map[string][]*file {
	t.Helper()
	byDir := make(map[string][]*file)
	for _, f := range house(t) {
		if !f.test {
			byDir[f.dir] = append(byDir[f.dir], f)
		}
	}
	return byDir
}

var positions = token.NewFileSet()

// parseTree parses the Go files below a folder, except in folders that are not of its module.
func parseTree(root string) (files []*file, err error) {
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			foreign := name == "clients" || name == "examples" || slices.Contains([]string{"tools", "web", "bin", "data", "testdata", "node_modules"}, e.Name())
			if name != root && foreign || name != "." && strings.HasPrefix(e.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(positions, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		files = append(files, &file{File: parsed, path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go")})
		return nil
	})
	return files, err
}

func (f *file) line(p token.Pos) int { return positions.Position(p).Line }

// at is the position of a node, as file:line.
func (f *file) at(n ast.Node) string {
	p := positions.Position(n.Pos())
	p.Column = 0
	return p.String()
}

func (f *file) imports(name string) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return unquote(i.Path.Value) == name })
}

func (f *file) functions() []*ast.FuncDecl {
	var all []*ast.FuncDecl
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			all = append(all, fn)
		}
	}
	return all
}

// variables are the file's package-level variables by name.
func (f *file) variables() iter.Seq2[string, *ast.ValueSpec] {
	return func(yield func(string, *ast.ValueSpec) bool) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				for _, name := range spec.Names {
					if !yield(name.Name, spec) {
						return
					}
				}
			}
		}
	}
}

// unexplained are the exported names without a doc comment of their own or of their group. Consecutive functions of one
// line are a group too.
func (f *file) unexplained() iter.Seq2[ast.Node, string] {
	return func(yield func(ast.Node, string) bool) {
		grouped := -1 // the line that a commented group of functions has reached
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Doc != nil || f.line(d.Pos()) == grouped+1 {
					grouped = f.line(d.End())
					continue
				}
				if d.Name.IsExported() && ast.IsExported(receiver(d)) && !yield(d, d.Name.Name) {
					return
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if name := exportedName(s); name != "" && d.Doc == nil && !commented(s) && !yield(s, name) {
						return
					}
				}
			}
		}
	}
}

// receiver is the type that a method belongs to; functions count as exported.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return "Any"
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return root(t)
}

func exportedName(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				return name.Name
			}
		}
	}
	return ""
}

func commented(s ast.Spec) bool {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Doc != nil || s.Comment != nil
	case *ast.ValueSpec:
		return s.Doc != nil || s.Comment != nil
	}
	return true
}

// holdsState reports whether a declaration has one of the types that change by use, such as a mutex. A sync.Pool does
// not count: it only saves memory, which no caller can observe.
func holdsState(spec *ast.ValueSpec) bool {
	state := false
	for _, value := range append(slices.Clone(spec.Values), spec.Type) {
		if l, ok := value.(*ast.CompositeLit); ok {
			value = l.Type
		}
		if index, ok := value.(*ast.IndexExpr); ok {
			value = index.X
		}
		if sel, ok := value.(*ast.SelectorExpr); ok {
			state = state || isIdent(sel.X, "sync") && sel.Sel.Name != "Pool" || isIdent(sel.X, "atomic")
		}
	}
	return state
}

// assigned are the variables that a function assigns to, in whole or in part, without declaring them itself.
func assigned(fn *ast.FuncDecl) iter.Seq2[ast.Node, string] {
	return func(yield func(ast.Node, string) bool) {
		own := declared(fn)
		for n := range nodes[ast.Stmt](fn) {
			for _, target := range targets(n) {
				if name := root(target); name != "" && !own[name] && !yield(n, name) {
					return
				}
			}
		}
	}
}

func targets(n ast.Stmt) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

// root is the variable at the beginning of an assignable expression.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// declared are the names that a function declares anywhere.
func declared(fn *ast.FuncDecl) map[string]bool {
	names := make(map[string]bool)
	add := func(all ...ast.Expr) {
		for _, e := range all {
			if name, ok := e.(*ast.Ident); ok {
				names[name.Name] = true
			}
		}
	}
	for n := range nodes[ast.Node](fn) {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		}
	}
	return names
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// nodes are the nodes of one type in a tree. (The root may be an *ast.File within a file.)
func nodes[N ast.Node](root ast.Node) iter.Seq[N] {
	if f, ok := root.(*file); ok {
		root = f.File
	}
	return func(yield func(N) bool) {
		more := true
		ast.Inspect(root, func(n ast.Node) bool {
			if found, ok := n.(N); ok && more {
				more = yield(found)
			}
			return more
		})
	}
}
