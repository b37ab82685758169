package main

import (
	"fmt"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
)

type backupCmd struct {
	Record backupRecordCmd `cmd:"" help:"Record that a backup has succeeded now, for the overview of staff."`
	Show   backupShowCmd   `cmd:"" help:"Show when the last backup was recorded."`
}

type backupRecordCmd struct{ configFlags }

// Run records a backup.
func (b *backupRecordCmd) Run(c *console) error {
	return b.operate(c, func(o *app.Operator) error {
		at, err := o.Backups.Record(c)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.out, "Recorded a backup at %s.\n", clock.Stamp{Time: at})
		return err
	})
}

type backupShowCmd struct {
	configFlags
	JSON bool `help:"Print JSON."`
}

// Run prints when the last backup was recorded.
func (b *backupShowCmd) Run(c *console) error {
	return b.operate(c, func(o *app.Operator) error {
		at, err := o.Backups.Last(c)
		switch {
		case err != nil:
			return err
		case b.JSON:
			return printJSON(c.out, struct {
				MadeAt *clock.Stamp `json:"madeAt"`
			}{clock.Optional(at)})
		case at.IsZero():
			_, err = fmt.Fprintln(c.out, "No backup was recorded.")
		default:
			_, err = fmt.Fprintln(c.out, clock.Stamp{Time: at})
		}
		return err
	})
}
