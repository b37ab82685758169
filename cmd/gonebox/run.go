package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gonebox/gonebox/internal/config"
)

// Exit codes (decisions §7).
const (
	exitOK      = 0
	exitFailure = 1 // the work failed; one line on stderr says why
	exitUsage   = 2 // the command line is wrong
)

// commands are the subcommands, each in a file of its own name.
type commands struct {
	Serve    serveCmd    `cmd:"" help:"Run the service."`
	Config   configCmd   `cmd:"" help:"Print the effective configuration, with secrets masked."`
	Migrate  migrateCmd  `cmd:"" help:"Bring the database to the schema of this version."`
	Domain   domainCmd   `cmd:"" help:"Manage the public mail domains."`
	User     userCmd     `cmd:"" help:"Manage the accounts."`
	Payment  paymentCmd  `cmd:"" help:"Manage bank transactions and points."`
	Notice   noticeCmd   `cmd:"" help:"Manage the notices that everybody is shown."`
	Page     pageCmd     `cmd:"" help:"Manage the pages that everybody can read."`
	Ready    readyCmd    `cmd:"" help:"Ask whether the service can work, for health checks."`
	Otp      otpCmd      `cmd:"" help:"Find the code in a mail, as the service does."`
	Send     sendCmd     `cmd:"" help:"Send a test mail with a code over SMTP."`
	Licences licencesCmd `cmd:"" help:"Print the licences of what is compiled in."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

// console is what a command may use of the process.
type console struct {
	context.Context
	environ []string
	out     io.Writer
	err     io.Writer
}

// usageError is a wrong command line that the flags alone cannot show.
type usageError struct{ error }

// run is the whole program: it executes the command line args and gives the exit code.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	helped := false
	parser, err := kong.New(&commands{},
		kong.Name("gonebox"),
		kong.Description("Disposable mailboxes in one binary.\n\nExample:\n  gonebox serve --data-dir ./data"),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }), // kong's own way out, taken after --help only
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return fail(stderr, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if helped {
		return exitOK
	}
	if err != nil {
		return misuse(stderr, command, err)
	}
	err = command.Run(&console{Context: ctx, environ: environ, out: stdout, err: stderr})
	if wrong, ok := errors.AsType[usageError](err); ok {
		return misuse(stderr, command, wrong)
	}
	if err != nil {
		return fail(stderr, err)
	}
	return exitOK
}

// fail prints err on one line, but a bad configuration with a line for each thing that is wrong with it.
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

func misuse(stderr io.Writer, command *kong.Context, err error) int {
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

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
