package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/problem"
)

// operate calls command with access to the database of the configured service, and records its changes in the audit
// log as those of a command.
func (f *configFlags) operate(c *console, command func(*app.Operator) error) error {
	return f.operateWith(c, func(o *app.Operator, _ *config.Config) error { return command(o) })
}

// operateWith does the same as operate and passes the configuration to command as well. It closes the database when
// command returns.
func (f *configFlags) operateWith(c *console, command func(*app.Operator, *config.Config) error) error {
	cfg, err := f.load(c, nil)
	if err != nil {
		return err
	}
	// c.Context, not c: what OpenOperator starts may still read its context when c.Context is replaced below.
	o, err := app.OpenOperator(c.Context, cfg)
	if err != nil {
		return err
	}
	defer o.Close()
	c.Context = o.Record(c.Context)
	return terminalError(command(o, cfg))
}

// terminalError returns a problem of the API as an error for a terminal: one line that names the wrong input instead of
// its JSON pointer. It returns other errors as they are.
func terminalError(err error) error {
	p, known := problem.From(err)
	if err == nil || !known {
		return err
	}
	return errors.New(p.Line())
}

// limitFlag limits the length of a list.
type limitFlag struct {
	Limit int `default:"50" help:"Maximum number of entries, 1 to 1000 (default ${default})."`
}

// check returns a usageError if the limit is out of bounds. Commands call it before they open the database.
func (l *limitFlag) check() error {
	const limitMax = 1000
	if l.Limit < 1 || l.Limit > limitMax {
		return usageError{fmt.Errorf("--limit %d: must be from 1 to %d", l.Limit, limitMax)}
	}
	return nil
}

// printOne prints one row, as a JSON object or as a table with one line.
func printOne[T any](c *console, asJSON bool, row T, table func(io.Writer, []T) error) error {
	if asJSON {
		return printJSON(c.out, row)
	}
	return table(c.out, []T{row})
}

// printAll prints rows, as JSON or as a table.
func printAll[T any](c *console, asJSON bool, rows []T, table func(io.Writer, []T) error) error {
	if asJSON {
		return printJSON(c.out, rows)
	}
	return table(c.out, rows)
}

// printPage prints up to limit rows, as JSON or as a table. The caller reads one row more than limit: if it is there,
// there is another page, and printPage prints below the table the --after flag that continues the list. last returns the
// identifier of a row for that flag.
func printPage[T any](c *console, asJSON bool, rows []T, limit int, last func(T) string, table func(io.Writer, []T) error) error {
	more := len(rows) > limit
	rows = rows[:min(len(rows), limit)]
	if err := printAll(c, asJSON, rows, table); err != nil || asJSON || !more {
		return err
	}
	_, err := fmt.Fprintf(c.out, "More: --after %s\n", last(rows[len(rows)-1]))
	return err
}

// rowsOf converts values of a domain into rows. Without values it returns an empty slice, which JSON shows as [].
func rowsOf[T, R any](all []T, row func(T) R) []R {
	rows := make([]R, len(all))
	for i, v := range all {
		rows[i] = row(v)
	}
	return rows
}
