package main

import "fmt"

type configCmd struct {
	configFlags
	NoComments bool `help:"Leave the comments out."`
	JSON       bool `help:"Print JSON instead of YAML."`
}

// Help is shown below the command's flags.
func (*configCmd) Help() string {
	return `What it prints can be read again with --config, except secrets, which are masked.
Settings that open the service to everyone are warned of on standard error.

Example:
  GONEBOX_BASE_URL=https://box.example.org gonebox config > gonebox.yaml`
}

// Run prints the configuration that serve would run with.
func (f *configCmd) Run(c *console) error {
	cfg, err := f.load(c, nil)
	if err != nil {
		return err
	}
	for _, w := range cfg.Warnings() {
		fmt.Fprintf(c.err, "gonebox: warning: %s\n", w)
	}
	if f.JSON {
		return cfg.WriteJSON(c.out)
	}
	return cfg.WriteYAML(c.out, !f.NoComments)
}
