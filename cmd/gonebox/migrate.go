package main

import (
	"fmt"
	"strconv"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
)

type migrateCmd struct {
	configFlags
	From *string `placeholder:"PLACE" help:"Move everything from here: sqlite:DATA_DIR or postgres://… (without it, with --to: what the configuration names)."`
	To   *string `placeholder:"PLACE" help:"Move everything to here: sqlite:DATA_DIR or postgres://… (without it, with --from: what the configuration names)."`
	JSON bool    `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*migrateCmd) Help() string {
	return `Without --from and --to it brings the configured database to the schema of this version.

With them it moves accounts, mailboxes, messages, raw messages and all the rest to another database, which must be empty,
and compares every row before it says so. Stop the service first. The configuration is that of the service as it
will be: secrets.key must be the secret that the service has had, for a generated one the content of DATA_DIR/secret.key.

Example:
  gonebox migrate --config /etc/gonebox.yaml
  GONEBOX_SECRETS_KEY_FILE=./data/secret.key gonebox migrate --from sqlite:./data --to postgres://gonebox@db.example.org/gonebox`
}

// Run migrates the database, or moves it.
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
		_, err = fmt.Fprintf(c.out, "The database has schema version %d already.\n", to)
	default:
		_, err = fmt.Fprintf(c.out, "The database went from schema version %d to %d.\n", from, to)
	}
	return err
}

// move moves everything, and tells how far it is unless a program reads along.
func (m *migrateCmd) move(c *console, cfg *config.Config) error {
	tell := func(p app.MoveProgress) {
		fmt.Fprintf(c.out, "%-6s  %s: %d of %d rows\n", p.Step, p.Table, p.Rows, p.Of)
	}
	if m.JSON {
		tell = nil
	}
	r, err := app.Move(c, cfg, given(m.From), given(m.To), tell)
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
	return m.conclude(c, r)
}

// conclude says what the numbers mean and what is left to do.
func (m *migrateCmd) conclude(c *console, r app.MoveReport) error {
	if r.Already {
		_, err := fmt.Fprintf(c.out, "All of this was moved to %s on %s already; nothing was done.\n", r.To, r.MovedAt.Format("2006-01-02 15:04:05 MST"))
		return err
	}
	if r.RawMessages.Gone > 0 {
		fmt.Fprintf(c.out, "%d raw messages were missing from %s; their download answers 410, as it did.\n", r.RawMessages.Gone, r.From)
	}
	if r.Replaced > 0 {
		fmt.Fprintf(c.out, "%d texts had octets that are no text to %s; there they are U+FFFD.\n", r.Replaced, r.To)
	}
	_, err := fmt.Fprintf(c.out, "Every row is the same on both sides. Serve %s with the same secrets.key, and not %s any more.\n", r.To, r.From)
	return err
}

// given is a flag's value, or "".
func given(flag *string) string {
	if flag == nil {
		return ""
	}
	return *flag
}
