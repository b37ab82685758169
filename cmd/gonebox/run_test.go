package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// outcome is the result of a command line.
type outcome struct {
	code     int
	out, err string
}

// gonebox runs a command line, split at blanks, with only environ as its environment.
func gonebox(t *testing.T, line string, environ ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), strings.Fields(line), environ, nil, &out, &err)
	return outcome{code, out.String(), err.String()}
}

// wantError checks the exit code, and that the only output is one line on stderr that contains want.
func (o outcome) wantError(t *testing.T, line string, code int, want string) {
	t.Helper()
	if o.code != code || o.out != "" || strings.Count(o.err, "\n") != 1 || !strings.HasPrefix(o.err, "gonebox: ") || !strings.Contains(o.err, want) {
		t.Errorf("gonebox %s: %+v, want exit status %d and one line of errors with %q", line, o, code, want)
	}
}

// Every command has help with an example of itself.
func TestHelpHasExamples(t *testing.T) {
	model := kong.Must(&commands{}, kong.Name("gonebox"))
	var visit func(node *kong.Node, path string)
	visit = func(node *kong.Node, path string) {
		got := gonebox(t, strings.TrimPrefix(path, "gonebox")+" --help")
		_, examples, _ := strings.Cut(got.out, "Example:")
		if got.code != exitOK || got.err != "" {
			t.Errorf("%s --help: exit status %d, errors %q, want 0 and none", path, got.code, got.err)
		} else if !strings.Contains(examples, path) {
			t.Errorf("%s --help has no example, want one below a heading of the command in cmd/gonebox/help.txt", path)
		}
		for _, child := range node.Children {
			visit(child, path+" "+child.Name)
		}
	}
	visit(model.Model.Node, "gonebox")
}

func TestInterruptedCommandSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{"ready --url http://127.0.0.1:1", "inbox new --url http://127.0.0.1:1"} {
		var out, errs strings.Builder
		code := run(ctx, strings.Fields(line), []string{"HOME=" + t.TempDir()}, nil, &out, &errs)
		if code != exitFailure || errs.String() != "gonebox: interrupted\n" {
			t.Errorf("gonebox %s after a signal: exit %d with %q, want %d and that it was interrupted", line, code, errs.String(), exitFailure)
		}
	}
}
