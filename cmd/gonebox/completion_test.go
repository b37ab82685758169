package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// output returns what a command prints that succeeds.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, nil, io.NopCloser(strings.NewReader("")), &out, &errs); code != exitOK {
		t.Fatalf("gonebox %q: exit status %d, want 0; its errors:\n%s", args, code, errs.String())
	}
	return out.String()
}

// regexpOverstrike matches what makes letters bold or underlined on a terminal.
var regexpOverstrike = regexp.MustCompile(`.\x08`)

// completed are command lines without their last word, that word, and some of what it may become.
var completed = []struct {
	line, word string
	want, not  string
}{
	{"gonebox", "", "serve inbox completion", "code --help"},
	{"gonebox", "in", "inbox invite", "serve"},
	{"gonebox inbox", "", "new code wait", "serve"},
	{"gonebox inbox", "co", "code", "new"},
	{"gonebox inbox code", "--ti", "--timeout", "--help"},
	{"gonebox inbox wait --timeout 5s", "--ha", "--has", "--help"},
	{"gonebox inbox wait --has", "", "code link action attachment", "--help"},
	{"gonebox inbox wait --has", "a", "action attachment", "code"},
	{"gonebox notice publish --level", "", "info warning critical", "banner"},
	{"gonebox user set-role you@example.org", "s", "staff", "user"},
	{"gonebox completion", "", "bash zsh fish", "serve"},
	{"gonebox serve", "--d", "--data-dir --dev", "--config"},
}

// TestShellsCompleteCommandLines has bash and fish, which can be asked without a terminal, complete command lines.
func TestShellsCompleteCommandLines(t *testing.T) {
	scripts := t.TempDir()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not on this machine", shell)
			}
			script := filepath.Join(scripts, shell)
			if err := os.WriteFile(script, []byte(output(t, "completion", shell)), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), program, "-n", script).CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%s -n of the completion script: %v, output %q, want no error and no output", shell, err, out)
			}
			if shell == "zsh" {
				return
			}
			for _, c := range completed {
				got := complete(t, program, script, c.line, c.word)
				for want := range strings.FieldsSeq(c.want) {
					if !slices.Contains(got, want) {
						t.Errorf("%s completes %q to %q, want also %q", shell, c.line+" "+c.word, got, want)
					}
				}
				for not := range strings.FieldsSeq(c.not) {
					if slices.Contains(got, not) {
						t.Errorf("%s completes %q to %q, want no %q", shell, c.line+" "+c.word, got, not)
					}
				}
			}
		})
	}
}

// complete returns what a shell that has loaded a script completes a word to.
func complete(t *testing.T, program, script, line, word string) []string {
	t.Helper()
	commands := "source " + script + "; complete -C '" + line + " " + word + "' | string split -f1 \\t; true"
	if filepath.Base(program) == "bash" {
		commands = "source " + script + `; COMP_WORDS=(` + line + ` "` + word + `"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _gonebox; echo "${COMPREPLY[@]}"`
	}
	cmd := exec.CommandContext(t.Context(), program, "-c", commands)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s -c %q: %v, want no error; its output:\n%s", program, commands, err, out)
	}
	return strings.Fields(string(out))
}

// In --has=co bash takes the equals sign for a word of its own.
func TestBashCompletesBehindEqualsSign(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not on this machine")
	}
	script := filepath.Join(t.TempDir(), "bash")
	if err := os.WriteFile(script, []byte(output(t, "completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := complete(t, bash, script, "gonebox inbox wait --has =", "co"); !slices.Equal(got, []string{"code"}) {
		t.Errorf("bash completes --has=co to %q, want code", got)
	}
	if got := complete(t, bash, script, "gonebox inbox wait --has", "="); !slices.Contains(got, "attachment") {
		t.Errorf("bash completes --has= to %q, want also attachment", got)
	}
}

// TestManualHasEveryCommand renders each page, where mandoc or man is installed.
func TestManualHasEveryCommand(t *testing.T) {
	dir := t.TempDir()
	output(t, "man", "--dir", dir)
	help := output(t, "--help")
	pages, _ := filepath.Glob(filepath.Join(dir, "gonebox-*.1"))
	if len(pages) < 20 {
		t.Fatalf("gonebox man --dir wrote %d pages of commands, want one for each command", len(pages))
	}
	for _, page := range pages {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(page), "gonebox-"), ".1")
		if !strings.Contains(help, "  "+name) {
			t.Errorf("gonebox man --dir wrote %s, want only pages of commands that gonebox --help lists", page)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if one := output(t, "man", name); one != string(text) {
			t.Errorf("gonebox man %s (-want what --dir wrote, +got):\n%s", name, cmp.Diff(string(text), one))
		}
	}
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not on this machine")
	}
	for _, page := range append(pages, filepath.Join(dir, "gonebox.1")) {
		out, err := exec.CommandContext(t.Context(), mandoc, "-T", "lint", "-W", "error", page).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("mandoc -T lint %s: %v, output %q, want no error and no output", page, err, out)
		}
	}
	page := filepath.Join(dir, "gonebox-inbox.1")
	out, err := exec.CommandContext(t.Context(), mandoc, "-T", "ascii", page).Output()
	text := regexpOverstrike.ReplaceAllString(string(out), "")
	if err != nil || !strings.Contains(text, "gonebox inbox code") || !strings.Contains(text, "--timeout") || !strings.Contains(text, "gonebox inbox code --timeout 2m --from example.org") {
		t.Errorf("mandoc renders %s as %v\n%s\nwant the synopsis, the flags and the example of inbox code", page, err, text)
	}
}
