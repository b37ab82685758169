package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/mcp"
)

type mcpCmd struct {
	URL string `placeholder:"URL" help:"Base URL of the service; default: GONEBOX_URL, or http://localhost:8080."`
	Key string `placeholder:"KEY" help:"Developer key; default: GONEBOX_KEY, or none."`
}

// Help is shown below the flags of the command.
func (*mcpCmd) Help() string {
	return `Serves the tools of docs/agents.md to one agent over standard input and output. The service may be any
Gonebox; it keeps the mailboxes, and this process keeps their tokens. A key on the command line can be seen by
other users of the machine: prefer GONEBOX_KEY.

Example:
  gonebox mcp --url https://gonebox.example`
}

// Run serves until the agent closes standard input.
func (m *mcpCmd) Run(c *console) error {
	base := cmp.Or(m.URL, envValue(c.environ, "GONEBOX_URL"), "http://localhost:8080")
	if u, err := url.Parse(base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usageError{fmt.Errorf("--url %s is not a URL such as https://gonebox.example", base)}
	}
	o := mcp.Options{
		API: mcp.NewRemote(base), Clock: clock.System(), Version: app.Version, Credential: cmp.Or(m.Key, envValue(c.environ, "GONEBOX_KEY")),
	}
	return mcp.ServeStdio(c, o, os.Stdin, keepOpen{c.out})
}

// keepOpen is an io.WriteCloser that leaves its writer open: the MCP server closes its output when the session ends,
// but standard output belongs to the process.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }

// envValue returns the value of an environment variable, "" if it is not set. Each entry of environ is "name=value".
func envValue(environ []string, name string) string {
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}
