package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

type inviteCmd struct {
	Add    inviteAddCmd    `cmd:"" help:"Create an invitation, whose code is shown only once."`
	List   inviteListCmd   `cmd:"" help:"List the invitations, newest first."`
	Remove inviteRemoveCmd `cmd:"" help:"Remove an invitation, used or not."`
}

// inviteRow is an invitation as it is printed. Code is set only when the invitation is created.
type inviteRow struct {
	ID        id.Invite    `json:"id"`
	Code      string       `json:"code,omitempty"`
	Note      string       `json:"note"`
	CreatedAt clock.Stamp  `json:"createdAt"`
	ExpiresAt *clock.Stamp `json:"expiresAt"`
	UsedAt    *clock.Stamp `json:"usedAt"`
	Account   id.Account   `json:"account,omitempty"`
}

func inviteRowOf(i *account.Invite) inviteRow {
	return inviteRow{
		ID: i.ID, Note: i.Note, CreatedAt: clock.Stamp{Time: i.CreatedAt}, ExpiresAt: clock.Optional(i.ExpiresAt), UsedAt: clock.Optional(i.UsedAt), Account: i.Account,
	}
}

func printInvites(w io.Writer, rows []inviteRow) error {
	shown := func(t *clock.Stamp, without string) string {
		if t == nil {
			return without
		}
		return t.String()
	}
	table := [][]string{{"ID", "NOTE", "CREATED", "EXPIRES", "USED", "ACCOUNT"}}
	for _, r := range rows {
		table = append(table, []string{string(r.ID), r.Note, r.CreatedAt.String(), shown(r.ExpiresAt, "never"), shown(r.UsedAt, "no"), string(r.Account)})
	}
	return printTable(w, table)
}

type inviteAddCmd struct {
	configFlags
	Note string        `help:"A note for your own use, such as whom the invitation is for."`
	For  time.Duration `placeholder:"DURATION" help:"How long the invitation can be used, such as 168h; forever by default."`
	JSON bool          `help:"Print JSON."`
}

// Run creates an invitation and prints its code.
func (i *inviteAddCmd) Run(c *console) error {
	if i.For < 0 {
		return usageError{fmt.Errorf("--for %s: must not be negative", i.For)}
	}
	return i.operate(c, func(o *app.Operator) error {
		code, invite, err := o.Accounts.Invite(c, i.Note, i.For, o.Clock.Now())
		if err != nil {
			return err
		}
		row := inviteRowOf(invite)
		row.Code = code
		if i.JSON {
			return printJSON(c.out, row)
		}
		_, err = fmt.Fprintf(c.out, "Created invitation %s. Its code, shown only once: %s\n", row.ID, code)
		return err
	})
}

type inviteListCmd struct {
	configFlags
	limitFlag
	After string `placeholder:"ID" help:"Continue after this invitation, the last one of the previous page."`
	JSON  bool   `help:"Print JSON."`
}

// Run lists the invitations.
func (i *inviteListCmd) Run(c *console) error {
	if err := i.check(); err != nil {
		return err
	}
	return i.operate(c, func(o *app.Operator) error {
		all, err := o.Accounts.Invites(c, id.Invite(i.After), i.Limit+1)
		if err != nil {
			return err
		}
		return printPage(c, i.JSON, rowsOf(all, inviteRowOf), i.Limit, func(r inviteRow) string { return string(r.ID) }, printInvites)
	})
}

type inviteRemoveCmd struct {
	configFlags
	ID string `arg:"" placeholder:"ID" help:"Identifier of the invitation."`
}

// Run removes the invitation.
func (i *inviteRemoveCmd) Run(c *console) error {
	return i.operate(c, func(o *app.Operator) error {
		if err := o.Accounts.RemoveInvite(c, id.Invite(i.ID)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.out, "Removed invitation %s.\n", i.ID)
		return err
	})
}
