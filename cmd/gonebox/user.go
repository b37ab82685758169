package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

type userCmd struct {
	List          userListCmd          `cmd:"" help:"List the accounts, newest first."`
	Show          userShowCmd          `cmd:"" help:"Show an account."`
	Add           userAddCmd           `cmd:"" help:"Create an account, whatever access.registration says."`
	SetPlan       userSetPlanCmd       `cmd:"" help:"Assign a plan to an account."`
	SetRole       userSetRoleCmd       `cmd:"" help:"Set the role of an account."`
	ResetPassword userResetPasswordCmd `cmd:"" help:"Set a new password, and end the user tokens, developer keys and mailbox tokens."`
	Disable       userDisableCmd       `cmd:"" help:"Disable an account, and end its user tokens, developer keys and mailbox tokens."`
	Enable        userEnableCmd        `cmd:"" help:"Enable a disabled account."`
}

// userRow is an account as it is printed. Plan is the one that staff assigned, not one that was bought.
type userRow struct {
	ID        id.Account  `json:"id"`
	Email     string      `json:"email"`
	Locale    string      `json:"locale"`
	Plan      string      `json:"plan"`
	Role      string      `json:"role"`
	TwoFactor string      `json:"twoFactor"`
	Disabled  bool        `json:"disabled"`
	CreatedAt clock.Stamp `json:"createdAt"`
}

func userRowOf(o *app.Operator, a *account.Account) userRow {
	return userRow{
		ID: a.ID, Email: a.Email, Locale: a.Locale, Plan: a.Plan, Role: string(a.Role), TwoFactor: string(a.TwoFactor(o.Clock.Now())),
		Disabled: a.Disabled, CreatedAt: clock.Stamp{Time: a.CreatedAt},
	}
}

func printUsers(w io.Writer, rows []userRow) error {
	table := [][]string{{"ID", "EMAIL", "PLAN", "ROLE", "TWO-FACTOR", "LOCALE", "STATE", "CREATED"}}
	for _, r := range rows {
		state := "enabled"
		if r.Disabled {
			state = "disabled"
		}
		table = append(table, []string{string(r.ID), r.Email, r.Plan, r.Role, r.TwoFactor, r.Locale, state, r.CreatedAt.String()})
	}
	return printTable(w, table)
}

// userFlags are the flags of the commands for one account.
type userFlags struct {
	configFlags
	User string `arg:"" placeholder:"USER" help:"E-mail address or identifier of the account."`
	JSON bool   `help:"Print JSON."`
}

// report calls command and prints the account that it returns.
func (f *userFlags) report(c *console, command func(*app.Operator) (*account.Account, error)) error {
	return f.operate(c, func(o *app.Operator) error {
		a, err := command(o)
		if err != nil {
			return err
		}
		return printOne(c, f.JSON, userRowOf(o, a), printUsers)
	})
}

type userListCmd struct {
	configFlags
	Search string `placeholder:"TEXT" help:"List only accounts whose e-mail address contains this."`
	limitFlag
	After string `placeholder:"ID" help:"Continue after this account, the last one of the previous page."`
	JSON  bool   `help:"Print JSON."`
}

// Run lists the accounts.
func (u *userListCmd) Run(c *console) error {
	if err := u.check(); err != nil {
		return err
	}
	if u.After != "" {
		if _, err := id.Parse[id.Account](u.After); err != nil {
			return fmt.Errorf("%q is not the identifier of an account: %w", u.After, err)
		}
	}
	return u.operate(c, func(o *app.Operator) error {
		all, err := o.Accounts.List(c, u.Search, id.Account(u.After), u.Limit+1)
		if err != nil {
			return err
		}
		rows := rowsOf(all, func(a *account.Account) userRow { return userRowOf(o, a) })
		return printPage(c, u.JSON, rows, u.Limit, func(r userRow) string { return string(r.ID) }, printUsers)
	})
}

type userShowCmd struct{ userFlags }

// Run shows the account.
func (u *userShowCmd) Run(c *console) error {
	return u.report(c, func(o *app.Operator) (*account.Account, error) { return o.Accounts.Find(c, u.User) })
}

type userAddCmd struct {
	configFlags
	Email         string `arg:"" help:"E-mail address of the account."`
	PasswordStdin bool   `help:"Read the password from the first line of standard input instead of generating one."`
	Plan          string `placeholder:"PLAN" help:"Code of the plan, such as plus; the free plan by default."`
	Role          string `enum:"user,staff" default:"user" help:"user or staff (default ${default})."`
	JSON          bool   `help:"Print JSON."`
}

// Run creates the account. A generated password is printed, only this once.
func (u *userAddCmd) Run(c *console) error {
	chosen, err := chosenPassword(c, u.PasswordStdin)
	if err != nil {
		return err
	}
	return u.operate(c, func(o *app.Operator) error {
		password, a, err := o.AddAccount(c, account.Provision{Email: u.Email, Password: chosen, Plan: u.Plan, Role: account.Role(u.Role)})
		if err != nil {
			return err
		}
		if chosen != "" {
			password = "" // the caller has it, so it is not printed
		}
		return printPassword(c.out, u.JSON, userRowOf(o, a), password, "Created the account %s.\n", "Created the account %s. Its password, shown only once: %s\n")
	})
}

type userSetPlanCmd struct {
	userFlags
	Plan string `arg:"" help:"Code of the plan, such as plus."`
}

// Run assigns the plan.
func (u *userSetPlanCmd) Run(c *console) error {
	return u.report(c, func(o *app.Operator) (*account.Account, error) {
		return o.Accounts.SetPlan(c, u.User, u.Plan)
	})
}

type userSetRoleCmd struct {
	userFlags
	Role string `arg:"" enum:"user,staff" help:"user or staff."`
}

// Run assigns the role.
func (u *userSetRoleCmd) Run(c *console) error {
	return u.report(c, func(o *app.Operator) (*account.Account, error) {
		return o.Accounts.SetRole(c, u.User, account.Role(u.Role))
	})
}

type userDisableCmd struct{ userFlags }

// Run disables the account.
func (u *userDisableCmd) Run(c *console) error {
	return u.report(c, func(o *app.Operator) (*account.Account, error) {
		return o.Accounts.SetDisabled(c, u.User, true)
	})
}

type userEnableCmd struct{ userFlags }

// Run enables the account.
func (u *userEnableCmd) Run(c *console) error {
	return u.report(c, func(o *app.Operator) (*account.Account, error) { return o.Accounts.SetDisabled(c, u.User, false) })
}

type userResetPasswordCmd struct {
	userFlags
	PasswordStdin bool `help:"Read the new password from the first line of standard input instead of generating one."`
	EndTwoFactor  bool `help:"Also turn off two-factor authentication, for an owner who has lost the authenticator and the recovery codes."`
}

// Run sets a new password. A generated one is printed, only this once.
func (u *userResetPasswordCmd) Run(c *console) error {
	chosen, err := chosenPassword(c, u.PasswordStdin)
	if err != nil {
		return err
	}
	return u.operate(c, func(o *app.Operator) error {
		password, a, err := o.Accounts.ResetPassword(c, u.User, chosen, u.EndTwoFactor)
		if err != nil {
			return err
		}
		if chosen != "" {
			password = "" // the caller has it, so it is not printed
		}
		return printPassword(c.out, u.JSON, userRowOf(o, a), password,
			"Set the password of %s, and ended its user tokens, developer keys and mailbox tokens.\n",
			"Ended the user tokens, developer keys and mailbox tokens of %s. New password, shown only once: %s\n")
	})
}

// chosenPassword returns the password on standard input, or "" to generate one. There is no flag for it: command lines
// can be seen by other users of the machine.
func chosenPassword(c *console, stdin bool) (string, error) {
	if !stdin {
		return "", nil
	}
	password, err := firstLine(c.in)
	if err != nil {
		return "", fmt.Errorf("read the password from standard input: %w", err)
	}
	return password, nil
}

// printPassword prints an account that was created or changed, with a generated password or without ("").
func printPassword(w io.Writer, asJSON bool, row userRow, password, without, with string) (err error) {
	switch {
	case asJSON:
		return printJSON(w, struct {
			userRow
			Password string `json:"password,omitempty"`
		}{row, password})
	case password == "":
		_, err = fmt.Fprintf(w, without, row.Email)
	default:
		_, err = fmt.Fprintf(w, with, row.Email, password)
	}
	return err
}

// firstLine reads the first line of r, without its line break. An empty line, or none, is an error.
func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil && (!errors.Is(err, io.EOF) || line == "") {
		return "", err
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", errors.New("the line is empty")
	}
	return line, nil
}
