package main

import (
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
)

type keyCmd struct {
	Add      keyAddCmd      `cmd:"" help:"Create a developer key of an account, which is shown only once."`
	Generate keyGenerateCmd `cmd:"" help:"Print a new key for key add --secret-stdin, without storing it."`
	List     keyListCmd     `cmd:"" help:"List the developer keys of an account, newest first."`
	Revoke   keyRevokeCmd   `cmd:"" help:"Revoke a developer key."`
}

// keyRow is a developer key as it is printed. Key, the whole credential, is set only when the key has been generated.
type keyRow struct {
	Prefix    string         `json:"prefix"`
	Name      string         `json:"name"`
	Scopes    []apikey.Scope `json:"scopes"`
	Networks  []netip.Prefix `json:"allowedCidrs"`
	CreatedAt clock.Stamp    `json:"createdAt"`
	ExpiresAt *clock.Stamp   `json:"expiresAt"`
	Key       string         `json:"key,omitempty"`
}

func keyRowOf(k *apikey.Key) keyRow {
	return keyRow{
		Prefix: k.Prefix, Name: k.Name, Scopes: k.Scopes, Networks: append([]netip.Prefix{}, k.Networks...),
		CreatedAt: clock.Stamp{Time: k.CreatedAt}, ExpiresAt: clock.Optional(k.ExpiresAt),
	}
}

func printKeys(w io.Writer, rows []keyRow) error {
	table := [][]string{{"PREFIX", "NAME", "SCOPES", "NETWORKS", "CREATED", "EXPIRES"}}
	for _, r := range rows {
		expires := "never"
		if r.ExpiresAt != nil {
			expires = r.ExpiresAt.String()
		}
		table = append(table, []string{r.Prefix, visible(r.Name), commaSeparated(r.Scopes), commaSeparated(r.Networks), r.CreatedAt.String(), expires})
	}
	return printTable(w, table)
}

// commaSeparated returns the values of a list, separated by commas.
func commaSeparated[T any](all []T) string {
	return strings.Join(rowsOf(all, func(v T) string { return fmt.Sprint(v) }), ",")
}

// ownerFlag names the account that owns keys.
type ownerFlag struct {
	User string `required:"" placeholder:"USER" help:"E-mail address or identifier of the account."`
}

type keyAddCmd struct {
	configFlags
	ownerFlag
	Name        string        `required:"" help:"A name to recognise the key by."`
	Scopes      []string      `required:"" help:"What the key may do, separated by commas: mailboxes:read, mailboxes:write, messages:read, otp:read."`
	Network     []string      `placeholder:"CIDR" help:"Allow the key only from this network. May be repeated."`
	For         time.Duration `placeholder:"DURATION" help:"How long the key can be used, such as 720h; forever by default."`
	SecretStdin bool          `help:"Store the whole key on the first line of standard input instead of generating one."`
	JSON        bool          `help:"Print JSON."`
}

// Run creates the key. A generated one is printed, only this once. A key from standard input is not printed: the
// caller has it, and the output may be logged. It is read before the database is opened.
func (k *keyAddCmd) Run(c *console) error {
	if k.For < 0 {
		return usageError{fmt.Errorf("--for %s: must not be negative", k.For)}
	}
	params := apikey.Params{Name: k.Name, Scopes: k.Scopes, Networks: k.Network}
	if k.SecretStdin {
		var err error
		if params.Credential, err = firstLine(c.in); err != nil {
			return fmt.Errorf("read the key from standard input: %w", err)
		}
	}
	return k.operate(c, func(o *app.Operator) error {
		owner, err := o.Accounts.Find(c, k.User)
		if err != nil {
			return err
		}
		if k.For > 0 {
			params.ExpiresAt = o.Clock.Now().Add(k.For)
		}
		key, credential, err := o.Keys.Create(c, owner.ID, params)
		if err != nil {
			return err
		}
		row := keyRowOf(key)
		if params.Credential == "" {
			row.Key = credential
		}
		return k.print(c.out, row)
	})
}

func (k *keyAddCmd) print(w io.Writer, row keyRow) (err error) {
	switch {
	case k.JSON:
		return printJSON(w, row)
	case row.Key == "":
		_, err = fmt.Fprintf(w, "Stored the key %s.\n", row.Prefix)
	default:
		_, err = fmt.Fprintf(w, "Created the key %s. The whole key, shown only once: %s\n", row.Prefix, row.Key)
	}
	return err
}

type keyGenerateCmd struct{}

// Run prints a key that is not stored anywhere, so that a seed or a deployment can contain it before the service runs.
func (*keyGenerateCmd) Run(c *console) error {
	credential := apikey.Generate()
	_, err := fmt.Fprintln(c.out, credential)
	return err
}

type keyListCmd struct {
	configFlags
	ownerFlag
	JSON bool `help:"Print JSON."`
}

// Run lists the keys.
func (k *keyListCmd) Run(c *console) error {
	return k.operate(c, func(o *app.Operator) error {
		owner, err := o.Accounts.Find(c, k.User)
		if err != nil {
			return err
		}
		all, err := o.Keys.List(c, owner.ID, apikey.Mark{}, math.MaxInt32) // a plan bounds them
		if err != nil {
			return err
		}
		rows := rowsOf(all, keyRowOf)
		return printAll(c, k.JSON, rows, printKeys)
	})
}

type keyRevokeCmd struct {
	configFlags
	ownerFlag
	Prefix string `arg:"" help:"Prefix of the key, as key list shows it."`
}

// Run revokes the key.
func (k *keyRevokeCmd) Run(c *console) error {
	return k.operate(c, func(o *app.Operator) error {
		owner, err := o.Accounts.Find(c, k.User)
		if err != nil {
			return err
		}
		if err := o.Keys.Revoke(c, owner.ID, k.Prefix); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.out, "Revoked the key %s.\n", k.Prefix)
		return err
	})
}
