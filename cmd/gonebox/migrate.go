package main

import (
	"fmt"
	"strconv"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
)

type migrateCmd struct {
	configFlags
	From *string `placeholder:"DATABASE" help:"Move all data from this database: sqlite:DATA_DIR or postgres://…; default with --to: the configured one."`
	To   *string `placeholder:"DATABASE" help:"Move all data to this database: sqlite:DATA_DIR or postgres://…; default with --from: the configured one."`
	JSON bool    `help:"Print JSON."`
}

// Run migrates the database, or moves the data to another one.
func (m *migrateCmd) Run(c *console) error {
	cfg, err := m.load(c, nil)
	if err != nil {
		return err
	}
	if m.From != nil || m.To != nil {
		return m.move(c, cfg)
	}
	from, to, err := app.Migrate(c, cfg)
	if err != nil {
		return err
	}
	switch {
	case m.JSON:
		return printJSON(c.out, map[string]int64{"from": from, "to": to})
	case from == to:
		_, err = fmt.Fprintf(c.out, "The database already has schema version %d.\n", to)
	default:
		_, err = fmt.Fprintf(c.out, "Migrated the database from schema version %d to %d.\n", from, to)
	}
	return err
}

// move moves all data and prints its progress, except with --json.
func (m *migrateCmd) move(c *console, cfg *config.Config) error {
	progress := func(p app.MoveProgress) {
		fmt.Fprintf(c.out, "%-6s  %s: %d of %d rows\n", p.Step, p.Table, p.Rows, p.Of)
	}
	if m.JSON {
		progress = nil
	}
	r, err := app.Move(c, cfg, valueOf(m.From), valueOf(m.To), progress)
	if err != nil {
		return err
	}
	if m.JSON {
		return printJSON(c.out, r)
	}
	table := [][]string{{"TABLE", "ROWS", "SHA-256"}}
	for _, t := range r.Tables {
		table = append(table, []string{t.Name, strconv.FormatInt(t.Rows, 10), t.Digest})
	}
	if !r.Already {
		table = append(table, []string{"(raw messages)", strconv.FormatInt(r.RawMessages.Count, 10), r.RawMessages.Digest})
	}
	if err := printTable(c.out, append(table, []string{"all", strconv.FormatInt(r.Rows, 10), r.Digest})); err != nil {
		return err
	}
	return m.printSummary(c, r)
}

// printSummary prints what the numbers mean and what is left to do. Missing raw messages and replaced octets are not
// errors: the raw messages were missing before the move, and the octets cannot be stored by the target.
func (m *migrateCmd) printSummary(c *console, r app.MoveReport) error {
	if r.Already {
		_, err := fmt.Fprintf(c.out, "The data was already moved to %s on %s; nothing was done.\n", r.To, r.MovedAt.Format("2006-01-02 15:04:05 MST"))
		return err
	}
	if r.RawMessages.Gone > 0 {
		fmt.Fprintf(c.out, "%d raw messages are missing from %s; downloading them returns 410 as before.\n", r.RawMessages.Gone, r.From)
	}
	if r.Replaced > 0 {
		fmt.Fprintf(c.out, "%d texts contained octets that are not valid text in %s; they were replaced by U+FFFD.\n", r.Replaced, r.To)
	}
	_, err := fmt.Fprintf(c.out, "All rows are identical in both databases. From now on serve %s, with the same secrets.key, and no longer %s.\n", r.To, r.From)
	return err
}

// valueOf returns the value of a flag, or "" if it is not set.
func valueOf(flag *string) string {
	if flag == nil {
		return ""
	}
	return *flag
}
