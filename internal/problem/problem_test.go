package problem_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"testing"

	"github.com/gonebox/gonebox/internal/problem"
)

// Every constant of codes.go is in the table: a code without a status would become a 500.
func TestEveryCodeHasStatusAndTitle(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		declared++
		text, _ := strconv.Unquote(literal.Value)
		code := problem.Code(text)
		if code.Title() == "" || code.Status() < 400 {
			t.Errorf("%s has the title %q and the status %d, want a row in the table", code, code.Title(), code.Status())
		}
		return true
	})
	if declared != len(problem.Codes()) {
		t.Errorf("%d codes are declared, want %d as in the table", declared, len(problem.Codes()))
	}
}

func TestFromFindsAProblemUnderWrapping(t *testing.T) {
	err := fmt.Errorf("create mailbox: %w", problem.Detailf(problem.MailboxTTLTooLong, "at most %d seconds", 86400))
	p, known := problem.From(err)
	if !known || p.Status() != http.StatusUnprocessableEntity || p.Detail != "at most 86400 seconds" {
		t.Errorf(`From = %+v, %t, want the status 422, "at most 86400 seconds" and true`, p, known)
	}
	if !errors.Is(err, problem.New(problem.MailboxTTLTooLong)) || problem.Has(err, problem.MailboxExpired) {
		t.Errorf("errors.Is or Has of %v does not compare by the code, want the code %s alone", err, problem.MailboxTTLTooLong)
	}
}

func TestFromHidesOtherErrors(t *testing.T) {
	p, known := problem.From(errors.New("disk /dev/sda on fire"))
	if known || p.Code != problem.ServerInternal || p.Detail != "" {
		t.Errorf("From of another error = %+v, %t, want %s without a detail, and false", p, known, problem.ServerInternal)
	}
}
