// Command gonebox runs the disposable mailbox service and has the commands of its operator and of users of any
// Gonebox.
//
// This package parses flags, handles signals and prints; the rules are in the domains. Each subcommand has a file of
// its name: a struct whose tags are its flags (package kong), with a method Help for the examples and a method Run.
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

// The context of all commands ends with SIGINT or SIGTERM.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // restores the default: a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
