package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
)

type serveCmd struct {
	configFlags
	Dev      bool    `help:"Short for --set profile=dev: for tests and development on this machine."`
	Roles    *string `placeholder:"ROLE,…" help:"Parts to run: smtp, api, jobs; default: all. Fewer than all require PostgreSQL."`
	HTTPAddr *string `name:"http-addr" placeholder:"HOST:PORT" help:"Short for --set http.addr=HOST:PORT."`
	SMTPAddr *string `name:"smtp-addr" placeholder:"HOST:PORT" help:"Short for --set smtp.addr=HOST:PORT."`
	EndInput bool    `name:"stop-at-eof" help:"Shut down when standard input ends: with the process that holds its other end, however that ends."`
}

// Run runs the service until the context ends.
func (s *serveCmd) Run(c *console) error {
	if err := checkSystem(runtime.GOOS); err != nil {
		return err
	}
	own := map[string]*string{"roles": s.Roles, "http.addr": s.HTTPAddr, "smtp.addr": s.SMTPAddr}
	if s.Dev {
		profile := config.ProfileDev
		own["profile"] = &profile
	}
	cfg, err := s.load(c, own)
	if err != nil {
		return err
	}
	ctx := context.Context(c)
	if s.EndInput {
		ctx = untilEOF(c, os.Stdin)
	}
	return app.Serve(ctx, cfg, c.out)
}

// checkSystem returns an error for an operating system on which the service cannot run: it locks its data folder with flock and
// syncs folders, and Windows has neither.
func checkSystem(goos string) error {
	if goos == "windows" {
		return errors.New("serve does not run on Windows: run the service on Linux, in a container or in WSL; inbox, send, mcp and otp work here")
	}
	return nil
}

// untilEOF returns a context that ends with ctx, and when a reader ends. What is read is discarded. The goroutine that
// reads lives as long as the process if the reader does not end.
func untilEOF(ctx context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in) // an error ends the input too
	}()
	return ctx
}
