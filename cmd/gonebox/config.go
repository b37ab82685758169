package main

import "fmt"

type configCmd struct {
	configFlags
	NoComments bool `help:"Do not print comments."`
	JSON       bool `help:"Print JSON instead of YAML."`
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
