package main

type configCmd struct {
	configFlags
	NoComments bool `help:"Leave the comments out."`
	JSON       bool `help:"Print JSON instead of YAML."`
}

// Help is shown below the command's flags.
func (*configCmd) Help() string {
	return `What it prints can be read again with --config, except secrets, which are masked.

Example:
  GONEBOX_BASE_URL=https://box.example.org gonebox config > gonebox.yaml`
}

// Run prints the configuration that serve would run with.
func (f *configCmd) Run(c *console) error {
	cfg, err := f.load(c, nil)
	if err != nil {
		return err
	}
	if f.JSON {
		return cfg.WriteJSON(c.out)
	}
	return cfg.WriteYAML(c.out, !f.NoComments)
}
