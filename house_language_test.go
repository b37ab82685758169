package house_test

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// maxVague is how many vague words the Go files may contain in all.
const maxVague = 10

// vague matches words that avoid saying who: client, caller, sender, operator, process or goroutine.
var vague = regexp.MustCompile(`(?i)(no|some)` + `body|who` + `ever`)

func TestProseNamesItsSubjects(t *testing.T) {
	var found []string
	for _, f := range house(t) {
		note := func(n ast.Node, text string) {
			if vague.MatchString(text) {
				found = append(found, f.at(n)+": "+text)
			}
		}
		for _, group := range f.Comments { // ast.Inspect visits doc comments only
			for _, c := range group.List {
				note(c, c.Text)
			}
		}
		for n := range nodes[ast.Node](f) {
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					note(n, n.Value)
				}
			case *ast.FuncDecl:
				note(n, n.Name.Name)
			}
		}
	}
	if len(found) > maxVague {
		t.Errorf("%d vague words, at most %d are allowed: name the client, caller or process that is meant\n%s",
			len(found), maxVague, strings.Join(found, "\n"))
	}
}

// paper matches a citation of a document outside the repository. Comments cite headings of docs/ instead.
var paper = regexp.MustCompile(`\b(decisions|spec)` + ` §`)

func TestNoFileCitesPapersOutsideTheRepository(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--", ".", ":!docs").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err) // the sources were copied without their repository
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // deleted, but not yet committed
		}
		if m := paper.FindString(string(text)); m != "" {
			t.Errorf("%s: cites %q: cite a heading of docs/ instead, as docs/spec/messages.md#codes", name, m)
		}
	}
}
