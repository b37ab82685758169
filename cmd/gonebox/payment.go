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
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/wallet"
)

type paymentCmd struct {
	List    paymentListCmd    `cmd:"" help:"List the bank transactions, newest first."`
	Resolve paymentResolveCmd `cmd:"" help:"Settle an unmatched bank transaction."`
	Adjust  paymentAdjustCmd  `cmd:"" help:"Add points to an account, or remove them."`
}

// paymentRow is a bank transaction as it is printed. Missing texts are empty.
type paymentRow struct {
	ID         string       `json:"id"`
	ReceivedAt clock.Stamp  `json:"receivedAt"`
	Direction  string       `json:"direction"`
	Amount     int64        `json:"amount"` // in VND; 0 if the bank gave none
	Content    string       `json:"content"`
	Outcome    string       `json:"outcome"` // new, credited, unmatched, ignored, resolved
	Reason     string       `json:"reason"`
	Order      string       `json:"order"`
	Account    string       `json:"account"` // identifier of the credited account
	Points     int64        `json:"points"`
	SettledAt  *clock.Stamp `json:"settledAt"`
	Staff      string       `json:"staff"`
	Note       string       `json:"note"`
}

// paymentRowOf returns a transaction as it is printed. It reads what the bank reported from the database.
func paymentRowOf(c *console, o *app.Operator, m *wallet.Match) (paymentRow, error) {
	t, err := o.Bank.Transfer(c, m.Transfer)
	if err != nil {
		return paymentRow{}, err
	}
	row := paymentRow{
		ID: m.Transfer, ReceivedAt: clock.Stamp{Time: m.ReceivedAt}, Direction: string(t.Direction), Amount: t.Amount, Outcome: string(m.Outcome),
		Reason: string(m.Reason), Order: m.Order, Account: m.Account, Points: m.Points, SettledAt: clock.Optional(m.SettledAt), Staff: m.Staff, Note: m.Note,
	}
	if len(t.Texts) > 0 {
		row.Content = strings.Join(strings.Fields(t.Texts[0]), " ")
	}
	return row, nil
}

// invokingUser returns the name of the user who runs the command. Under sudo it is the user who called sudo.
func invokingUser(c *console) string {
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

// noteMax is the maximum length of a note in characters.
const noteMax = 500

// checkNote returns an error unless note is one line of text.
func checkNote(note string) error {
	if strings.TrimSpace(note) == "" {
		return usageError{errors.New("--note: give a reason; it is kept permanently")}
	}
	if n := len([]rune(note)); n > noteMax {
		return usageError{fmt.Errorf("--note: has %d characters, the maximum is %d", n, noteMax)}
	}
	if strings.ContainsFunc(note, unicode.IsControl) {
		return usageError{errors.New("--note: must be one line of text")}
	}
	return nil
}

func printPayments(w io.Writer, rows []paymentRow) error {
	table := [][]string{{"ID", "RECEIVED", "DIRECTION", "VND", "OUTCOME", "REASON", "ORDER", "ACCOUNT", "POINTS", "STAFF", "NOTE", "CONTENT"}}
	for _, r := range rows {
		table = append(table, []string{
			r.ID, r.ReceivedAt.String(), dash(r.Direction), strconv.FormatInt(r.Amount, 10), r.Outcome, dash(r.Reason), dash(r.Order), dash(r.Account),
			strconv.FormatInt(r.Points, 10), dash(r.Staff), dash(r.Note), dash(visible(truncate(r.Content))),
		})
	}
	return printTable(w, table)
}

// dash returns a hyphen for an empty cell of a table, so that columns stay visible.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// truncate returns the first 200 octets of a text, whose length the payer chooses.
func truncate(text string) string {
	const most = 200
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

type paymentListCmd struct {
	configFlags
	limitFlag
	Unmatched bool   `help:"List only transactions left for staff."`
	After     string `placeholder:"ID" help:"Continue after this transaction, the last one of the previous page."`
	JSON      bool   `help:"Print JSON."`
}

// Run lists the transactions.
func (p *paymentListCmd) Run(c *console) error {
	if err := p.check(); err != nil {
		return err
	}
	return p.operate(c, func(o *app.Operator) error {
		all, err := o.Wallet.Matches(c, p.Unmatched, p.After, p.Limit+1)
		if err != nil {
			return err
		}
		rows := make([]paymentRow, len(all))
		for i, m := range all {
			if rows[i], err = paymentRowOf(c, o, m); err != nil {
				return err
			}
		}
		return printPage(c, p.JSON, rows, p.Limit, func(r paymentRow) string { return r.ID }, printPayments)
	})
}

type paymentResolveCmd struct {
	configFlags
	ID      string  `arg:"" help:"Identifier that the bank gave the transaction."`
	Order   *string `placeholder:"ORDER" xor:"how" help:"Use it to pay this order, which must have the same amount."`
	Account *string `placeholder:"USER" xor:"how" help:"Credit its value to this account (e-mail address or identifier)."`
	Ignore  bool    `xor:"how" help:"Credit nothing."`
	Note    string  `required:"" placeholder:"TEXT" help:"Reason, kept permanently with your user name and the time."`
	JSON    bool    `help:"Print JSON."`
}

// Run settles the transaction.
func (p *paymentResolveCmd) Run(c *console) error {
	if p.Order == nil && p.Account == nil && !p.Ignore {
		return usageError{errors.New("one of --order, --account or --ignore is required")}
	}
	if err := checkNote(p.Note); err != nil {
		return err
	}
	return p.operate(c, func(o *app.Operator) error {
		if err := p.resolve(c, o, wallet.Staff{Name: invokingUser(c), Note: p.Note}); err != nil {
			return err
		}
		m, err := o.Wallet.Match(c, p.ID)
		if err != nil {
			return err
		}
		row, err := paymentRowOf(c, o, m)
		if err != nil {
			return err
		}
		return printOne(c, p.JSON, row, printPayments)
	})
}

func (p *paymentResolveCmd) resolve(c *console, o *app.Operator, by wallet.Staff) error {
	switch {
	case p.Order != nil:
		order, err := id.Parse[id.Order](*p.Order)
		if err != nil {
			return fmt.Errorf("%q is not the identifier of an order: %w", *p.Order, err)
		}
		return o.Wallet.ResolveByOrder(c, p.ID, order, by)
	case p.Account != nil:
		a, err := o.Accounts.Find(c, *p.Account)
		if err != nil {
			return err
		}
		return o.Wallet.ResolveToAccount(c, p.ID, a.ID, by)
	}
	return o.Wallet.Ignore(c, p.ID, by)
}

// adjustmentRow is a ledger entry made by staff, as it is printed.
type adjustmentRow struct {
	ID           id.Transaction `json:"id"`
	Account      id.Account     `json:"account"`
	Amount       int64          `json:"amount"`
	BalanceAfter int64          `json:"balanceAfter"`
	Note         string         `json:"note"`
	CreatedAt    clock.Stamp    `json:"createdAt"`
}

type paymentAdjustCmd struct {
	configFlags
	User   string `arg:"" placeholder:"USER" help:"E-mail address or identifier of the account."`
	Points int64  `arg:"" help:"Points to add; to remove some, put -- before the arguments: -- USER -5."`
	Note   string `required:"" placeholder:"TEXT" help:"Reason, shown in the account's ledger and kept permanently with your user name and the time."`
	JSON   bool   `help:"Print JSON."`
}

// Run adds or removes the points.
func (p *paymentAdjustCmd) Run(c *console) error {
	if p.Points == 0 {
		return usageError{errors.New("points must not be 0")}
	}
	if err := checkNote(p.Note); err != nil {
		return err
	}
	return p.operate(c, func(o *app.Operator) error {
		a, err := o.Accounts.Find(c, p.User)
		if err != nil {
			return err
		}
		e, err := o.Wallet.Adjust(c, a.ID, p.Points, wallet.Staff{Name: invokingUser(c), Note: p.Note})
		if err != nil {
			return err
		}
		if p.JSON {
			return printJSON(c.out, adjustmentRow{
				ID: e.ID, Account: e.Account, Amount: e.Amount, BalanceAfter: e.BalanceAfter, Note: e.Note, CreatedAt: clock.Stamp{Time: e.CreatedAt},
			})
		}
		_, err = fmt.Fprintf(c.out, "%s now has %d points.\n", p.User, e.BalanceAfter)
		return err
	})
}
