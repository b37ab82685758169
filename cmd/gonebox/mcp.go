package main

import (
	"cmp"
	"io"
	"strings"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/mcp"
)

type mcpCmd struct {
	URL string `placeholder:"URL" help:"Base URL of the service; default: GONEBOX_URL, or http://localhost:8080."`
	Key string `placeholder:"KEY" help:"Developer key; default: GONEBOX_KEY, or none."`
}

// Run serves until the agent closes standard input.
func (m *mcpCmd) Run(c *console) error {
	base, key := cmp.Or(m.URL, envValue(c.environ, "GONEBOX_URL"), defaultURL), cmp.Or(m.Key, envValue(c.environ, "GONEBOX_KEY"))
	if err := cmp.Or(checkURL(base), checkKey(key)); err != nil {
		return err
	}
	o := mcp.Options{API: mcp.NewRemote(base), Clock: clock.System(), Version: app.Version, Credential: key}
	return mcp.ServeStdio(c, o, c.in, keepOpen{c.out})
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
