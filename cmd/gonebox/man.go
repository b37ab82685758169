package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gonebox/gonebox/internal/app"
)

type manCmd struct {
	Command string `arg:"" optional:"" help:"Command that the page is about; default: the program as a whole."`
	Dir     string `placeholder:"DIR" help:"Write every page into a folder, instead of printing one."`
}

// Run prints a page of the manual, or writes all pages into a folder.
func (f *manCmd) Run(c *console, parsed *kong.Context) error {
	program := parsed.Model.Node
	if f.Dir != "" {
		return writeManual(f.Dir, program)
	}
	if f.Command == "" {
		_, err := c.out.Write(programPage(program))
		return err
	}
	for _, command := range program.Children {
		if command.Name == f.Command && !command.Hidden {
			_, err := c.out.Write(commandPage(command))
			return err
		}
	}
	return usageError{fmt.Errorf("man %s: there is no such command", f.Command)}
}

// writeManual writes the page of the program and one of each command.
func writeManual(dir string, program *kong.Node) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // pages are public
		return err
	}
	pages := map[string][]byte{program.Name: programPage(program)}
	for _, command := range program.Children {
		if !command.Hidden {
			pages[pageName(command)] = commandPage(command)
		}
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name+".1"), page, 0o644); err != nil { //nolint:gosec // pages are public
			return err
		}
	}
	return nil
}

// pageName returns the name of a command's page, such as gonebox-inbox.
func pageName(n *kong.Node) string { return strings.ReplaceAll(n.FullPath(), " ", "-") }

// manual is a page in the macros of man(7).
type manual struct{ bytes.Buffer }

// programPage returns the page of the program, which lists its commands.
func programPage(program *kong.Node) []byte {
	var m manual
	m.begin(program, "disposable mailboxes in one binary")
	m.line(".B gonebox")
	m.line(".I command")
	m.line(".RI [ flags ]")
	m.line(".SH DESCRIPTION")
	m.line("Gonebox receives mail over SMTP for mailboxes that are created over HTTP, and finds the one-time codes and links in it.")
	m.line(".SH COMMANDS")
	for _, command := range program.Children {
		if !command.Hidden {
			m.line(".TP")
			m.line(".BR " + escape(pageName(command)) + " (1)")
			m.line(escape(command.Help))
		}
	}
	m.line(".SH FILES")
	m.line(".TP")
	m.line(".I /etc/gonebox.yaml")
	m.line("The configuration of the service that packages install. " + escape("gonebox config") + " prints every key with its default and what it means.")
	m.end()
	return m.Bytes()
}

// commandPage returns the page of a command with its subcommands.
func commandPage(command *kong.Node) []byte {
	var m manual
	m.begin(command, strings.TrimSuffix(command.Help, "."))
	m.synopsis(command)
	if command.Detail != "" {
		m.line(".SH DESCRIPTION")
		m.detail(command.Detail)
	}
	if len(command.Children) == 0 {
		m.line(".SH OPTIONS")
		m.options(command)
	} else {
		m.line(".SH COMMANDS")
		for _, child := range command.Children {
			if child.Hidden {
				continue
			}
			m.line(".SS " + escape(child.FullPath()))
			m.line(escape(child.Help))
			m.line(".PP")
			m.synopsis(child)
			m.options(child)
			m.detail(child.Detail)
		}
	}
	m.end()
	return m.Bytes()
}

func (m *manual) line(text string) { m.WriteString(text + "\n") }

func (m *manual) begin(n *kong.Node, summary string) {
	name := pageName(n)
	m.line(fmt.Sprintf(`.TH %s 1 "" "Gonebox %s" "Gonebox"`, escape(strings.ToUpper(name)), escape(app.Version)))
	m.line(".SH NAME")
	m.line(escape(name) + ` \- ` + escape(summary))
	m.line(".SH SYNOPSIS")
}

func (m *manual) end() {
	m.line(".SH EXIT STATUS")
	m.line("0 on success, 1 if the work failed, 2 if the command line is wrong.")
	m.line(".SH SEE ALSO")
	m.line(".UR https://github.com/gonebox/gonebox")
	m.line("The documentation of Gonebox")
	m.line(".UE")
}

// synopsis writes the command lines of a command that can be run.
func (m *manual) synopsis(n *kong.Node) {
	if len(n.Children) > 0 {
		m.line(".B " + escape(n.FullPath()))
		m.line(".I command")
		return
	}
	m.line(".B " + escape(n.FullPath()))
	m.line(".RI [ flags ]")
	for _, argument := range n.Positional {
		m.line(".I " + escape(argument.Summary()))
	}
}

// options writes the arguments and flags of a command.
func (m *manual) options(n *kong.Node) {
	for _, argument := range n.Positional {
		m.line(".TP")
		m.line(".I " + escape(argument.Summary()))
		m.line(escape(argument.Help))
	}
	for _, group := range n.AllFlags(true) {
		for _, flag := range group {
			m.line(".TP")
			name := flag.Summary()
			if flag.Short != 0 {
				name = "-" + string(flag.Short) + ", " + name
			}
			m.line(".B " + escape(name))
			m.line(escape(flag.Help))
		}
	}
}

// detail writes paragraphs as they are in help.txt. Indented lines are examples, which are not filled.
func (m *manual) detail(text string) {
	literal := false
	for line := range strings.SplitSeq(text, "\n") {
		example := strings.HasPrefix(line, "  ")
		switch {
		case example && !literal:
			m.line(".PP\n.nf\n.RS 4")
		case !example && literal:
			m.line(".RE\n.fi")
		}
		literal = example
		switch {
		case example:
			m.line(escape(line[2:]))
		case line == "":
			m.line(".PP")
		default:
			m.line(escape(line))
		}
	}
	if literal {
		m.line(".RE\n.fi")
	}
}

// escape returns text with what roff interprets made literal.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
