package house_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// verb matches a verb of a format of package fmt.
var verb = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?[0-9*]*(\.[0-9*]+)?[a-zA-Z%]`)

var letter = regexp.MustCompile(`\pL`)

// errorName matches the names that tests give to errors.
var errorName = regexp.MustCompile(`(?i)err|fault`)

// TestFailuresSayWhatBroke refuses assertions that print values alone, or do not say what the test wants. A failure names the call and its
// argument, what it got and what it wanted, so that a reader knows what broke without the source of the test.
func TestFailuresSayWhatBroke(t *testing.T) {
	for _, f := range slices.Concat(house(t), tools(t)) {
		for a := range assertions(f) {
			if fault := a.fault(f.dir == "."); fault != "" {
				t.Errorf("%s: %s %s: name the call, what it got and what it wanted", f.at(a.call), a.call.Fun.(*ast.SelectorExpr).Sel.Name, fault)
			}
		}
	}
}

// An assertion is a call that reports a failure of a test.
type assertion struct {
	call *ast.CallExpr
	cond ast.Expr // of the innermost if or case around it, or nil
}

// testers are the names that tests give to what they report failures to.
var testers = []string{"t", "b", "f", "tb", "rt", "ts", "T"}

// assertions yields the calls of a file that report failures.
func assertions(f *file) func(func(assertion) bool) {
	return func(yield func(assertion) bool) {
		var around []ast.Node
		ast.Inspect(f.File, func(n ast.Node) bool {
			if n == nil {
				around = around[:len(around)-1]
				return true
			}
			around = append(around, n)
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains([]string{"Errorf", "Fatalf", "Error", "Fatal"}, method.Sel.Name) && slices.Contains(testers, lastName(method.X)) {
				yield(assertion{call, condition(around)})
			}
			return true
		})
	}
}

// condition returns the condition of the innermost of some nodes that has one.
func condition(around []ast.Node) ast.Expr {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.IfStmt:
			return n.Cond
		case *ast.CaseClause:
			if len(n.List) == 1 {
				return n.List[0]
			}
			return nil
		case *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// fault says what a failure does not say. The text of a rule of the house says what to do instead of what was wanted.
func (a assertion) fault(rule bool) string {
	format, ok := a.call.Args[0].(*ast.BasicLit)
	switch {
	case !ok && (len(a.call.Args) > 1 || !errorName.MatchString(types.ExprString(a.call.Args[0]))):
		return "prints values without words"
	case !ok && a.cond != nil && !a.unexpectedError():
		return "prints an error alone, which is not all that the test checks"
	case !ok:
		return ""
	case format.Kind != token.STRING:
		return "has no text"
	}
	text := unquote(format.Value)
	switch values := verb.MatchString(text); {
	case !letter.MatchString(verb.ReplaceAllString(text, "")):
		return "says no word"
	case !values && len(strings.Fields(text)) < 4:
		return "says less than four words"
	case values && !rule && !strings.Contains(text, "want") && !a.unexpectedError():
		return "does not say what the test wants"
	}
	return ""
}

// unexpectedError reports whether an assertion prints the error of a call that should return none, which goes without saying.
func (a assertion) unexpectedError() bool {
	c, ok := a.cond.(*ast.BinaryExpr)
	for ok && c.Op == token.LAND { // but for an error that does not matter
		c, ok = c.X.(*ast.BinaryExpr)
	}
	if !ok || c.Op != token.NEQ || !isIdent(c.Y, "nil") {
		return false
	}
	name := types.ExprString(c.X)
	return errorName.MatchString(name) && slices.ContainsFunc(a.call.Args, func(arg ast.Expr) bool { return types.ExprString(arg) == name })
}
