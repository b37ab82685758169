package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
)

type mailboxCmd struct {
	Show mailboxShowCmd `cmd:"" help:"Show a mailbox by its address."`
	End  mailboxEndCmd  `cmd:"" help:"End a mailbox by its address."`
}

// mailboxRow is a mailbox of the configured service as it is printed.
type mailboxRow struct {
	ID        id.Mailbox     `json:"id"`
	Address   string         `json:"address"`
	Source    mailbox.Source `json:"source"`
	Account   id.Account     `json:"account"` // empty: a guest's
	CreatedAt clock.Stamp    `json:"createdAt"`
	ExpiresAt clock.Stamp    `json:"expiresAt"`
	Messages  int            `json:"messageCount"`
}

func printMailboxes(w io.Writer, rows []mailboxRow) error {
	table := [][]string{{"ID", "ADDRESS", "SOURCE", "ACCOUNT", "CREATED", "EXPIRES", "MESSAGES"}}
	for _, r := range rows {
		table = append(table, []string{
			string(r.ID), visible(r.Address), string(r.Source), dash(string(r.Account)), r.CreatedAt.String(), r.ExpiresAt.String(), strconv.Itoa(r.Messages),
		})
	}
	return printTable(w, table)
}

type mailboxShowCmd struct {
	configFlags
	Address string `arg:"" help:"Address of the mailbox, without a +tag."`
	JSON    bool   `help:"Print JSON."`
}

// Run shows the mailbox.
func (m *mailboxShowCmd) Run(c *console) error {
	return m.operateWith(c, func(o *app.Operator, cfg *config.Config) error {
		boxes, err := o.Mailboxes(c, cfg)
		if err != nil {
			return err
		}
		b, err := boxes.At(c, m.Address)
		if err != nil {
			return err
		}
		row := mailboxRow{b.ID, b.Address, b.Source, b.Owner.Account, clock.Stamp{Time: b.CreatedAt}, clock.Stamp{Time: b.ExpiresAt}, b.MessageCount}
		return printOne(c, m.JSON, row, printMailboxes)
	})
}

type mailboxEndCmd struct {
	configFlags
	Address string `arg:"" help:"Address of the mailbox, without a +tag."`
}

// Run ends the mailbox.
func (m *mailboxEndCmd) Run(c *console) error {
	return m.operateWith(c, func(o *app.Operator, cfg *config.Config) error {
		if err := o.EndMailbox(c, cfg, m.Address); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.out, "Ended %s.\n", visible(m.Address))
		return err
	})
}
