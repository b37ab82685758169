package main

import (
	"errors"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/app"
)

type paymentCmd struct {
	List    paymentListCmd    `cmd:"" help:"List the bank transactions, newest first."`
	Resolve paymentResolveCmd `cmd:"" help:"Settle a bank transaction that was left unmatched."`
	Adjust  paymentAdjustCmd  `cmd:"" help:"Give points to an account, or take them."`
}

// Help is shown below the commands.
func (*paymentCmd) Help() string {
	return `Example:
  gonebox payment list --unmatched`
}

// withPayments opens the payments, runs do, and closes them.
func (f *configFlags) withPayments(c *console, do func(*app.Payments) error) error {
	cfg, err := f.load(c, nil)
	if err != nil {
		return err
	}
	payments, err := app.OpenPayments(c, cfg)
	if err != nil {
		return err
	}
	defer payments.Close()
	return do(payments)
}

// operator is the user of the operating system who runs the command: who gave the order, where it was given through sudo.
func operator(c *console) string {
	for _, variable := range c.environ {
		if name, ok := strings.CutPrefix(variable, "SUDO_USER="); ok && name != "" {
			return name
		}
	}
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// noteMax is the most characters of a note.
const noteMax = 500

// checkNote refuses a note that explains nothing.
func checkNote(note string) error {
	if strings.TrimSpace(note) == "" {
		return usageError{errors.New("--note: say why; it is kept for good")}
	}
	if n := len([]rune(note)); n > noteMax {
		return usageError{fmt.Errorf("--note: has %d characters, at most %d are kept", n, noteMax)}
	}
	if strings.ContainsFunc(note, unicode.IsControl) {
		return usageError{errors.New("--note: must be one line of text")}
	}
	return nil
}

func printPayments(w io.Writer, rows []app.PaymentRow) error {
	table := [][]string{{"ID", "RECEIVED", "DIRECTION", "VND", "OUTCOME", "REASON", "ORDER", "ACCOUNT", "POINTS", "STAFF", "NOTE", "CONTENT"}}
	for _, r := range rows {
		table = append(table, []string{
			r.ID, r.ReceivedAt.String(), dash(r.Direction), strconv.FormatInt(r.Amount, 10), r.Outcome, dash(r.Reason), dash(r.Order), dash(r.Account),
			strconv.FormatInt(r.Points, 10), dash(r.Staff), dash(r.Note), dash(printable(r.Content)),
		})
	}
	return printTable(w, table)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// printable is the beginning of a text without what would do something to the terminal: it is a stranger's.
func printable(text string) string {
	const most = 200
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text[:min(len(text), most)], ""))
}

type paymentListCmd struct {
	configFlags
	Unmatched bool   `help:"Only transactions that are left for staff."`
	Limit     int    `default:"50" help:"How many at most: 1 to 1000."`
	After     string `placeholder:"ID" help:"Go on behind this transaction, the last of the page before."`
	JSON      bool   `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*paymentListCmd) Help() string {
	return `Example:
  gonebox payment list --unmatched --json`
}

// Run lists the transactions.
func (p *paymentListCmd) Run(c *console) error {
	const limitMax = 1000
	if p.Limit < 1 || p.Limit > limitMax {
		return usageError{fmt.Errorf("--limit %d: must be from 1 to %d", p.Limit, limitMax)}
	}
	return p.withPayments(c, func(payments *app.Payments) error {
		rows, more, err := payments.List(c, p.Unmatched, p.After, p.Limit)
		if err != nil {
			return err
		}
		if p.JSON {
			return printJSON(c.out, rows)
		}
		if err := printPayments(c.out, rows); err != nil || !more {
			return err
		}
		_, err = fmt.Fprintf(c.out, "More: --after %s\n", rows[len(rows)-1].ID)
		return err
	})
}

type paymentResolveCmd struct {
	configFlags
	ID      string  `arg:"" help:"The bank's identifier of the transaction."`
	Order   *string `placeholder:"ORDER" xor:"how" help:"It pays this order, whose amount it must have."`
	Account *string `placeholder:"USER" xor:"how" help:"Credit what it is worth to this account (e-mail address or identifier)."`
	Ignore  bool    `xor:"how" help:"Nothing is to be credited for it."`
	Note    string  `required:"" placeholder:"TEXT" help:"Why; kept for good, with your name and the time."`
	JSON    bool    `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*paymentResolveCmd) Help() string {
	return `Example:
  gonebox payment resolve 92704 --account you@example.org --note "paid without the memo, asked by mail"`
}

// Run settles the transaction.
func (p *paymentResolveCmd) Run(c *console) error {
	if p.Order == nil && p.Account == nil && !p.Ignore {
		return usageError{errors.New("say what becomes of it: --order, --account or --ignore")}
	}
	if err := checkNote(p.Note); err != nil {
		return err
	}
	return p.withPayments(c, func(payments *app.Payments) error {
		row, err := p.resolve(c, payments)
		if err != nil {
			return err
		}
		if p.JSON {
			return printJSON(c.out, row)
		}
		return printPayments(c.out, []app.PaymentRow{row})
	})
}

func (p *paymentResolveCmd) resolve(c *console, payments *app.Payments) (app.PaymentRow, error) {
	switch {
	case p.Order != nil:
		return payments.ResolveByOrder(c, p.ID, *p.Order, operator(c), p.Note)
	case p.Account != nil:
		return payments.ResolveToAccount(c, p.ID, *p.Account, operator(c), p.Note)
	}
	return payments.Ignore(c, p.ID, operator(c), p.Note)
}

type paymentAdjustCmd struct {
	configFlags
	User   string `arg:"" placeholder:"USER" help:"The account's e-mail address or identifier."`
	Points int64  `arg:"" help:"How many points to give; write -- in front of the arguments to take some: -- USER -5."`
	Note   string `required:"" placeholder:"TEXT" help:"Why; the account sees it in its ledger. Kept for good, with your name and the time."`
	JSON   bool   `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*paymentAdjustCmd) Help() string {
	return `Example:
  gonebox payment adjust you@example.org 50 --note "for the outage of 14 March"
  gonebox payment adjust --note "credited twice" -- you@example.org -50`
}

// Run books the points.
func (p *paymentAdjustCmd) Run(c *console) error {
	if p.Points == 0 {
		return usageError{errors.New("0 points are nothing to book")}
	}
	if err := checkNote(p.Note); err != nil {
		return err
	}
	return p.withPayments(c, func(payments *app.Payments) error {
		row, err := payments.Adjust(c, p.User, p.Points, operator(c), p.Note)
		if err != nil {
			return err
		}
		if p.JSON {
			return printJSON(c.out, row)
		}
		_, err = fmt.Fprintf(c.out, "%s has %d points now.\n", p.User, row.BalanceAfter)
		return err
	})
}
