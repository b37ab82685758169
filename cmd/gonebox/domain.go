package main

import (
	"fmt"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/domain"
)

type domainCmd struct {
	Add     domainAddCmd     `cmd:"" help:"Add a public domain, or enable it again."`
	List    domainListCmd    `cmd:"" help:"List the public domains."`
	Disable domainDisableCmd `cmd:"" help:"Stop creating mailboxes in a public domain."`
	Remove  domainRemoveCmd  `cmd:"" help:"Remove a public domain that was added and has no live mailboxes."`
}

// domainRow is a public domain in JSON.
type domainRow struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

// oneDomainFlags are the flags of a command on one domain.
type oneDomainFlags struct {
	configFlags
	Domain string `arg:"" help:"Domain name, such as box.example.org."`
	JSON   bool   `help:"Print JSON."`
}

type domainAddCmd struct{ oneDomainFlags }

// Run adds the domain.
func (d *domainAddCmd) Run(c *console) error {
	return d.operate(c, func(o *app.Operator) error {
		if err := o.Domains.Add(c, d.Domain); err != nil {
			return err
		}
		return reportDomain(c, d.JSON, d.Domain, true)
	})
}

type domainDisableCmd struct{ oneDomainFlags }

// Run disables the domain.
func (d *domainDisableCmd) Run(c *console) error {
	return d.operate(c, func(o *app.Operator) error {
		if err := o.Domains.Disable(c, d.Domain); err != nil {
			return err
		}
		return reportDomain(c, d.JSON, d.Domain, false)
	})
}

type domainRemoveCmd struct{ oneDomainFlags }

// Run removes the domain.
func (d *domainRemoveCmd) Run(c *console) error {
	return d.operate(c, func(o *app.Operator) error {
		if err := o.RemoveDomain(c, d.Domain); err != nil {
			return err
		}
		if d.JSON {
			return printJSON(c.out, struct {
				Name    string `json:"name"`
				Removed bool   `json:"removed"`
			}{d.Domain, true})
		}
		_, err := fmt.Fprintf(c.out, "%s is removed.\n", d.Domain)
		return err
	})
}

// reportDomain prints the state that a command has given a domain.
func reportDomain(c *console, asJSON bool, name string, active bool) error {
	if asJSON {
		return printJSON(c.out, domainRow{name, active})
	}
	_, err := fmt.Fprintf(c.out, "%s is now %s.\n", name, domainState(active))
	return err
}

type domainListCmd struct {
	configFlags
	JSON bool `help:"Print JSON."`
}

// Run lists the domains.
func (d *domainListCmd) Run(c *console) error {
	return d.operate(c, func(o *app.Operator) error {
		rows := rowsOf(o.Domains.All(), func(p domain.Public) domainRow { return domainRow{p.Name, p.Active} })
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

// domainState returns the state as a word, for tables and messages. JSON has a boolean instead.
func domainState(active bool) string {
	if active {
		return "active"
	}
	return "disabled"
}
