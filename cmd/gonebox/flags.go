package main

import (
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/config"
)

// configFlags are the flags of the commands that read the configuration. Commands embed it.
type configFlags struct {
	Config  string   `short:"c" placeholder:"FILE" help:"Read the configuration from a YAML file (default: the one that GONEBOX_CONFIG names)."`
	DataDir *string  `placeholder:"DIR" help:"Short for --set data_dir=DIR."`
	Set     []string `sep:"none" placeholder:"KEY=VALUE" help:"Set a configuration key, overriding file and environment. May be repeated."`
}

// load reads the configuration. Flags override the environment, which overrides the file. extra maps keys to the
// values of a command's own flags, which override --set; nil means that the flag is not set. Errors in the
// configuration are *config.Error.
func (f *configFlags) load(c *console, extra map[string]*string) (*config.Config, error) {
	overrides := map[string]string{}
	for _, assignment := range f.Set {
		key, value, ok := strings.Cut(assignment, "=")
		if !ok {
			return nil, usageError{fmt.Errorf("--set %s: no = between key and value", assignment)}
		}
		overrides[key] = value
	}
	if f.DataDir != nil {
		overrides["data_dir"] = *f.DataDir
	}
	for key, value := range extra {
		if value != nil {
			overrides[key] = *value
		}
	}
	return config.Load(f.Config, c.environ, overrides)
}
