package main

import "fmt"

type configCmd struct {
	configFlags
	NoComments bool `help:"Do not print comments."`
	JSON       bool `help:"Print JSON instead of YAML."`
}

// Help is shown below the flags of the command.
func (*configCmd) Help() string {
	return `Prints the configuration in effect: the defaults, over them the file, the environment and the
flags. The output can be used with --config, except for secrets, which are masked. Settings that
open the service to everyone cause a warning on standard error.

Example:
  GONEBOX_BASE_URL=https://box.example.org gonebox config > gonebox.yaml`
}

// Run prints the configuration that serve would use.
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
