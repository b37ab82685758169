package main

import (
	"fmt"

	"github.com/gonebox/gonebox/internal/app"
)

type migrateCmd struct {
	configFlags
	JSON bool `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*migrateCmd) Help() string {
	return `Example:
  gonebox migrate --config /etc/gonebox.yaml`
}

// Run migrates the database and tells from which version to which.
func (m *migrateCmd) Run(c *console) error {
	cfg, err := m.load(c, nil)
	if err != nil {
		return err
	}
	from, to, err := app.Migrate(c, cfg)
	if err != nil {
		return err
	}
	switch {
	case m.JSON:
		return printJSON(c.out, map[string]int64{"from": from, "to": to})
	case from == to:
		_, err = fmt.Fprintf(c.out, "The database has schema version %d already.\n", to)
	default:
		_, err = fmt.Fprintf(c.out, "The database went from schema version %d to %d.\n", from, to)
	}
	return err
}
