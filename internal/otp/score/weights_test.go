package score

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWeightsStandInTheTable holds that every weight is in weights.go: no other file
// has a decimal, or gives a candidate a number.
func TestWeightsStandInTheTable(t *testing.T) {
	fset := token.NewFileSet()
	for name, file := range sources(t, fset) {
		if name == "weights.go" {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.FLOAT {
					t.Errorf("%s: %s: a weight is a row of weights.go, want Kind not %v", fset.Position(n.Pos()), n.Value, token.FLOAT)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "sum" || f.Sel.Name == "because" || f.Sel.Name == "note") {
					for _, a := range n.Args {
						if literal(a) {
							t.Errorf("%s: %s with a number, want the name of a row of weights.go", fset.Position(a.Pos()), f.Sel.Name)
						}
					}
				}
			}
			return true
		})
	}
}

// TestNoConditionReadsAWeight holds that weights are read where the facts are weighed, and the sums
// that they come to where candidates are compared.
func TestNoConditionReadsAWeight(t *testing.T) {
	fset := token.NewFileSet()
	for name, file := range sources(t, fset) {
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.SelectorExpr)
			if ok && (f.Sel.Name == "weight" && name != "weigh.go" || f.Sel.Name == "score" && name != "weigh.go" && name != "judge.go") {
				t.Errorf("%s reads a %s, want it to be read in weigh.go or judge.go alone", fset.Position(f.Pos()), f.Sel.Name)
			}
			return true
		})
	}
}

// literal reports whether an expression is a number.
func literal(e ast.Expr) bool {
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = u.X
	}
	l, ok := e.(*ast.BasicLit)
	return ok && l.Kind != token.STRING
}

// TestFeatures holds that each row of the table says what it observes, and is used.
func TestFeatures(t *testing.T) {
	fset, used := token.NewFileSet(), map[string]bool{}
	all := sources(t, fset)
	for name, file := range all {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && name != "weights.go" {
				used[id.Name] = true
			}
			return true
		})
	}
	found := 0
	ast.Inspect(all["weights.go"], func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 || !isFeature(v.Values[0]) {
			return true
		}
		found++
		name := v.Names[0].Name
		if rows[name] == nil {
			t.Errorf("%s has no row in rows_test.go, want one: run make otp-fit", name)
		}
		if v.Comment.Text() == "" {
			t.Errorf("%s has no comment, want one that says what it observes", name)
		}
		if !used[name] {
			t.Errorf("%s is used nowhere, want a use of it", name)
		}
		return false
	})
	if found != len(rows) {
		t.Errorf("weights.go has %d rows, want %d as rows_test.go", found, len(rows))
	}
}

// isFeature reports whether an expression is the row of a feature.
func isFeature(e ast.Expr) bool {
	u, ok := e.(*ast.UnaryExpr)
	if !ok {
		return false
	}
	l, ok := u.X.(*ast.CompositeLit)
	if !ok {
		return false
	}
	id, ok := l.Type.(*ast.Ident)
	return ok && (id.Name == "feature" || id.Name == "fixed")
}

// sources parses the files of the package but for its tests.
func sources(t *testing.T, fset *token.FileSet) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = parser.ParseFile(fset, name, text, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
