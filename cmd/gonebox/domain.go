package main

import (
	"fmt"

	"github.com/gonebox/gonebox/internal/app"
)

type domainCmd struct {
	Add     domainAddCmd     `cmd:"" help:"Make a public domain active."`
	List    domainListCmd    `cmd:"" help:"List the public domains."`
	Disable domainDisableCmd `cmd:"" help:"Stop offering a public domain for new mailboxes."`
}

// Help is shown below the commands.
func (*domainCmd) Help() string {
	return `Example:
  gonebox domain add box.example.org`
}

// withAdmin opens the database, runs do, and closes it.
func (f *configFlags) withAdmin(c *console, do func(*app.Admin) error) error {
	cfg, err := f.load(c, nil)
	if err != nil {
		return err
	}
	admin, err := app.OpenAdmin(c, cfg)
	if err != nil {
		return err
	}
	defer admin.Close()
	return do(admin)
}

type domainAddCmd struct {
	configFlags
	Domain string `arg:"" help:"The domain, like box.example.org."`
	JSON   bool   `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*domainAddCmd) Help() string {
	return `Example:
  gonebox domain add box.example.org`
}

// Run adds the domain.
func (d *domainAddCmd) Run(c *console) error {
	return d.withAdmin(c, func(admin *app.Admin) error {
		if err := admin.AddDomain(c, d.Domain); err != nil {
			return err
		}
		return reportDomain(c, d.JSON, d.Domain, true)
	})
}

type domainDisableCmd struct {
	configFlags
	Domain string `arg:"" help:"The domain, like box.example.org."`
	JSON   bool   `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*domainDisableCmd) Help() string {
	return `Example:
  gonebox domain disable box.example.org`
}

// Run disables the domain.
func (d *domainDisableCmd) Run(c *console) error {
	return d.withAdmin(c, func(admin *app.Admin) error {
		if err := admin.DisableDomain(c, d.Domain); err != nil {
			return err
		}
		return reportDomain(c, d.JSON, d.Domain, false)
	})
}

func reportDomain(c *console, asJSON bool, name string, active bool) error {
	if asJSON {
		return printJSON(c.out, app.DomainRow{Name: name, Active: active})
	}
	_, err := fmt.Fprintf(c.out, "%s is %s now.\n", name, domainState(active))
	return err
}

type domainListCmd struct {
	configFlags
	JSON bool `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*domainListCmd) Help() string {
	return `Example:
  gonebox domain list --json`
}

// Run lists the domains.
func (d *domainListCmd) Run(c *console) error {
	return d.withAdmin(c, func(admin *app.Admin) error {
		rows, err := admin.ListDomains(c)
		if err != nil {
			return err
		}
		if d.JSON {
			return printJSON(c.out, rows)
		}
		table := [][]string{{"DOMAIN", "STATE"}}
		for _, r := range rows {
			table = append(table, []string{r.Name, domainState(r.Active)})
		}
		return printTable(c.out, table)
	})
}

func domainState(active bool) string {
	if active {
		return "active"
	}
	return "disabled"
}
