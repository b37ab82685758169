package main

import (
	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
)

type serveCmd struct {
	configFlags
	Dev      bool    `help:"Short for --set profile=dev: for tests and development on this machine."`
	Roles    *string `placeholder:"ROLE,…" help:"Parts to run: smtp, api, jobs; default: all. Fewer than all require PostgreSQL."`
	HTTPAddr *string `name:"http-addr" placeholder:"HOST:PORT" help:"Short for --set http.addr=HOST:PORT."`
	SMTPAddr *string `name:"smtp-addr" placeholder:"HOST:PORT" help:"Short for --set smtp.addr=HOST:PORT."`
}

// Help is shown below the flags of the command.
func (*serveCmd) Help() string {
	return `Runs until SIGINT or SIGTERM, then finishes the work in progress. A second signal ends it at once.

Example:
  gonebox serve --config /etc/gonebox.yaml --http-addr 127.0.0.1:8080`
}

// Run runs the service until the context ends.
func (s *serveCmd) Run(c *console) error {
	own := map[string]*string{"roles": s.Roles, "http.addr": s.HTTPAddr, "smtp.addr": s.SMTPAddr}
	if s.Dev {
		profile := config.ProfileDev
		own["profile"] = &profile
	}
	cfg, err := s.load(c, own)
	if err != nil {
		return err
	}
	return app.Serve(c, cfg, c.out)
}
