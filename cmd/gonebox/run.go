package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gonebox/gonebox/internal/config"
)

// The exit codes of every command.
const (
	exitOK      = 0
	exitFailure = 1 // the work failed; one line on stderr says why
	exitUsage   = 2 // the command line is wrong
)

// commands are the subcommands. Each is in the file with its name.
type commands struct {
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	Config     configCmd     `cmd:"" help:"Print the effective configuration, with secrets masked."`
	Migrate    migrateCmd    `cmd:"" help:"Migrate the database to this version, or move it."`
	Domain     domainCmd     `cmd:"" help:"Manage public mail domains."`
	User       userCmd       `cmd:"" help:"Manage accounts."`
	Key        keyCmd        `cmd:"" help:"Manage developer keys."`
	Invite     inviteCmd     `cmd:"" help:"Manage invitations to register."`
	Secret     secretCmd     `cmd:"" help:"Manage the master secret."`
	Seed       seedCmd       `cmd:"" help:"Create accounts with keys, domains, filters and webhooks from a file."`
	Payment    paymentCmd    `cmd:"" help:"Manage bank transactions and points."`
	Notice     noticeCmd     `cmd:"" help:"Manage the notices shown to everyone."`
	Page       pageCmd       `cmd:"" help:"Manage the public pages."`
	Doctor     doctorCmd     `cmd:"" help:"Check this machine and its DNS for the service."`
	Mailbox    mailboxCmd    `cmd:"" help:"Find and end mailboxes."`
	Deliveries deliveriesCmd `cmd:"" help:"List what became of the mail for an address in the last 24 hours."`
	Block      blockCmd      `cmd:"" help:"Refuse mail by client, sender or recipient."`
	Ingress    ingressCmd    `cmd:"" help:"Set up and test mail that comes otherwise than over SMTP."`
	Backup     backupCmd     `cmd:"" help:"Remember when the database was backed up."`
	Audit      auditCmd      `cmd:"" help:"List what staff and commands have changed."`
	Ready      readyCmd      `cmd:"" help:"Check whether the service is ready."`
	Otp        otpCmd        `cmd:"" help:"Find the code in a mail."`
	Inbox      inboxCmd      `cmd:"" help:"Use the mailboxes of any Gonebox."`
	Send       sendCmd       `cmd:"" help:"Send a test mail with a code over SMTP."`
	Mcp        mcpCmd        `cmd:"" help:"Serve mailboxes to an agent over stdio (Model Context Protocol)."`
	Completion completionCmd `cmd:"" help:"Print the script that completes commands in a shell."`
	Man        manCmd        `cmd:"" help:"Print the manual."`
	Licences   licencesCmd   `cmd:"" help:"Print the licences of all dependencies."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// console is the part of the process that a command uses: its context, environment, input and output. Commands use nothing
// else of the process, so that tests can run them with buffers.
type console struct {
	context.Context
	environ []string // each "name=value", like os.Environ
	in      io.ReadCloser
	out     io.Writer
	err     io.Writer
}

// open opens a file, or returns standard input if name is a hyphen. The caller closes what it returns.
func (c *console) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return c.in, nil
	}
	return os.Open(name)
}

// usageError is an error in the command line that the parser does not find. The command then exits with exitUsage and
// points to its help.
type usageError struct{ error }

//go:embed help.txt
var helpText string

// helpSections returns the sections of help.txt by the path of their command, such as "domain add": the text below the line
// "== " with that path.
func helpSections() map[string]string {
	sections := make(map[string]string)
	for section := range strings.SplitSeq("\n"+helpText, "\n== ") {
		path, text, _ := strings.Cut(section, "\n")
		sections[path] = strings.TrimSpace(text)
	}
	return sections
}

// addHelp sets the text that kong shows below the flags of each command.
func addHelp(node *kong.Node, path string, sections map[string]string) {
	node.Detail = sections[path]
	for _, child := range node.Children {
		addHelp(child, strings.TrimSpace(path+" "+child.Name), sections)
	}
}

// run executes the command line args, without the name of the program, and returns the exit code. It does not exit
// itself. Without arguments it prints the help.
func run(ctx context.Context, args, environ []string, stdin io.ReadCloser, stdout, stderr io.Writer) int {
	helpShown := false
	parser, err := kong.New(&commands{},
		kong.Name("gonebox"),
		kong.Description("Disposable mailboxes in one binary.\n\nExample:\n  gonebox serve --data-dir ./data"),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helpShown = true }), // kong calls it only after --help
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return fail(stderr, err)
	}
	addHelp(parser.Model.Node, "", helpSections())
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if helpShown {
		return exitOK
	}
	if err != nil {
		return failUsage(stderr, command, err)
	}
	err = command.Run(&console{Context: ctx, environ: environ, in: stdin, out: stdout, err: stderr})
	if wrong, ok := errors.AsType[usageError](err); ok {
		return failUsage(stderr, command, wrong)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) && command.Command() != "serve" { // which says itself what a signal has cut off
		err = errors.New("interrupted")
	}
	if err != nil {
		return fail(stderr, err)
	}
	return exitOK
}

// fail prints err on one line, or on one line for each error of the configuration, and returns exitFailure.
func fail(stderr io.Writer, err error) int {
	lines := []string{oneLine(err)}
	if _, ok := errors.AsType[*config.Error](err); ok {
		lines = strings.Split(err.Error(), "\n")
	}
	for _, line := range lines {
		fmt.Fprintln(stderr, "gonebox: "+line)
	}
	return exitFailure
}

// failUsage prints err and how to show the help of the command that was meant, and returns exitUsage.
func failUsage(stderr io.Writer, command *kong.Context, err error) int {
	if parse, ok := errors.AsType[*kong.ParseError](err); ok {
		command = parse.Context
	}
	name := "gonebox"
	if command != nil && command.Selected() != nil {
		name = command.Selected().FullPath()
	}
	fmt.Fprintf(stderr, "gonebox: %s; see %s --help\n", oneLine(err), name)
	return exitUsage
}

// oneLine returns the text of an error with line breaks replaced by spaces: scripts read one line for each error.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
