// Command gonebox runs the disposable mailbox service and has the commands of its operator and of users of any
// Gonebox.
//
// This package parses flags, handles signals and prints; the rules are in the domains. Each subcommand has a file of
// its name: a struct whose tags are its flags (package kong), with a method Run; help.txt has the examples.
// Most are of three kinds:
//
//   - serve runs the service (app.Serve).
//   - Commands of the operator embed configFlags and work on the database of the configured service, whether it is
//     running or not (configFlags.operate).
//   - inbox, send, mcp and otp need no configuration; they use a service from outside, or none.
//
// Every command exits with 0, 1 or 2 (exitOK, exitFailure, exitUsage) and prints errors on one line of standard error.
// Those that print data take --json. Names of commands, flags and JSON fields are public and never change. Text that
// strangers can choose, such as subjects and e-mail addresses, passes through visible before it is printed as text.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// The context of all commands ends with SIGINT, SIGTERM or SIGHUP. Afterwards the default is restored, so that a second SIGINT or SIGTERM
// ends the process at once. A second SIGHUP is ignored: a terminal that closes may cause two, one of the shell and one of the kernel.
// Under nohup SIGHUP stays ignored.
func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP)
		stop()
	})
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
