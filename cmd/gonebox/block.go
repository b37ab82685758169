package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

type blockCmd struct {
	Add    blockAddCmd    `cmd:"" help:"Refuse mail from a client or a sender, or to recipients."`
	List   blockListCmd   `cmd:"" help:"List the blocks, newest first."`
	Remove blockRemoveCmd `cmd:"" help:"Remove a block."`
}

// blockRow is a block as it is printed.
type blockRow struct {
	ID        id.Block     `json:"id"`
	Kind      block.Kind   `json:"kind"`
	Value     string       `json:"value"`
	Reason    string       `json:"reason"`
	CreatedAt clock.Stamp  `json:"createdAt"`
	ExpiresAt *clock.Stamp `json:"expiresAt"`
}

func blockRowOf(b *block.Block) blockRow {
	return blockRow{b.ID, b.Kind, b.Value, b.Reason, clock.Stamp{Time: b.CreatedAt}, clock.Optional(b.ExpiresAt)}
}

func printBlocks(w io.Writer, rows []blockRow) error {
	table := [][]string{{"ID", "KIND", "VALUE", "CREATED", "EXPIRES", "REASON"}}
	for _, r := range rows {
		expires := "never"
		if r.ExpiresAt != nil {
			expires = r.ExpiresAt.String()
		}
		table = append(table, []string{string(r.ID), string(r.Kind), visible(r.Value), r.CreatedAt.String(), expires, dash(visible(r.Reason))})
	}
	return printTable(w, table)
}

type blockAddCmd struct {
	configFlags
	IP        string        `xor:"what" required:"" placeholder:"CIDR" help:"Refuse connections from this address or network."`
	Sender    string        `xor:"what" required:"" placeholder:"ADDRESS" help:"Refuse mail from this address, or with @DOMAIN from this domain."`
	Recipient string        `xor:"what" required:"" placeholder:"PATTERN" help:"Refuse mail to this address, in which * stands for any characters."`
	Reason    string        `placeholder:"TEXT" help:"Why, for the list of blocks."`
	For       time.Duration `placeholder:"DURATION" help:"For how long, such as 72h; until it is removed by default."`
	JSON      bool          `help:"Print JSON."`
}

// Run adds the block and prints its identifier.
func (b *blockAddCmd) Run(c *console) error {
	return b.operate(c, func(o *app.Operator) error {
		added, err := o.Blocks.Add(c, block.Params{IP: b.IP, Sender: b.Sender, Recipient: b.Recipient, Reason: b.Reason, For: b.For})
		if err != nil {
			return err
		}
		if b.JSON {
			return printJSON(c.out, blockRowOf(added))
		}
		_, err = fmt.Fprintf(c.out, "%s blocks %s %s.\n", added.ID, added.Kind, visible(added.Value))
		return err
	})
}

type blockListCmd struct {
	configFlags
	limitFlag
	After string `placeholder:"ID" help:"Continue after this block, the last one of the previous page."`
	JSON  bool   `help:"Print JSON."`
}

// Run lists the blocks.
func (b *blockListCmd) Run(c *console) error {
	if err := b.check(); err != nil {
		return err
	}
	return b.operate(c, func(o *app.Operator) error {
		all, err := o.Blocks.List(c, id.Block(b.After), b.Limit+1)
		if err != nil {
			return err
		}
		return printPage(c, b.JSON, rowsOf(all, blockRowOf), b.Limit, func(r blockRow) string { return string(r.ID) }, printBlocks)
	})
}

type blockRemoveCmd struct {
	configFlags
	ID string `arg:"" placeholder:"ID" help:"Identifier of the block."`
}

// Run removes the block.
func (b *blockRemoveCmd) Run(c *console) error {
	return b.operate(c, func(o *app.Operator) error {
		if err := o.Blocks.Remove(c, b.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.out, "Removed block %s.\n", b.ID)
		return err
	})
}
