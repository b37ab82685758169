package main

import (
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

type auditCmd struct {
	configFlags
	limitFlag
	After string `placeholder:"ID" help:"Continue after this entry, the last one of the previous page."`
	JSON  bool   `help:"Print JSON."`
}

// auditRow is an entry of the audit log as it is printed. Target and detail may contain text of the API's callers.
type auditRow struct {
	ID     id.Audit    `json:"id"`
	At     clock.Stamp `json:"at"`
	Actor  string      `json:"actor"`
	Action string      `json:"action"`
	Target string      `json:"target"`
	Detail string      `json:"detail"`
}

// Run lists the audit log.
func (a *auditCmd) Run(c *console) error {
	if err := a.check(); err != nil {
		return err
	}
	if a.After != "" {
		if _, err := id.Parse[id.Audit](a.After); err != nil {
			return fmt.Errorf("%q is not the identifier of an entry: %w", a.After, err)
		}
	}
	return a.operate(c, func(o *app.Operator) error {
		all, err := o.Audit.List(c, id.Audit(a.After), a.Limit+1)
		if err != nil {
			return err
		}
		rows := rowsOf(all, func(e *app.AuditEntry) auditRow {
			return auditRow{e.ID, clock.Stamp{Time: e.At}, e.Actor, e.Action, e.Target, e.Detail}
		})
		return printPage(c, a.JSON, rows, a.Limit, func(r auditRow) string { return string(r.ID) }, printAudit)
	})
}

func printAudit(w io.Writer, rows []auditRow) error {
	table := [][]string{{"ID", "AT", "ACTOR", "ACTION", "TARGET", "DETAIL"}}
	for _, r := range rows {
		table = append(table, []string{string(r.ID), r.At.String(), r.Actor, r.Action, visible(r.Target), dash(visible(r.Detail))})
	}
	return printTable(w, table)
}
