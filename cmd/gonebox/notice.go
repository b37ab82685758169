package main

import (
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
)

type noticeCmd struct {
	Publish  noticePublishCmd  `cmd:"" help:"Publish a notice for everybody."`
	List     noticeListCmd     `cmd:"" help:"List the notices, newest first."`
	Withdraw noticeWithdrawCmd `cmd:"" help:"Stop showing a notice now."`
}

// Help is shown below the commands.
func (*noticeCmd) Help() string {
	return `Example:
  gonebox notice publish --title "Maintenance on Sunday" --level warning`
}

// withPress opens what is published, runs do, and closes it.
func (f *configFlags) withPress(c *console, do func(*app.Press) error) error {
	cfg, err := f.load(c, nil)
	if err != nil {
		return err
	}
	press, err := app.OpenPress(c, cfg)
	if err != nil {
		return err
	}
	defer press.Close()
	return do(press)
}

type noticePublishCmd struct {
	configFlags
	htmlFlags
	Title       string      `required:"" help:"One line that tells what it is about."`
	Kind        string      `enum:"banner,dialog" default:"banner" help:"banner, or dialog: it has to be closed."`
	Level       string      `enum:"info,warning,critical" default:"info" help:"info, warning or critical."`
	Locale      string      `placeholder:"TAG" help:"Only for readers of this language, like vi; all where absent."`
	Starts      clock.Stamp `placeholder:"TIME" help:"When it is first shown, like 2026-01-31T12:00:00Z; now where absent."`
	Ends        clock.Stamp `placeholder:"TIME" help:"When it is not shown any more; where absent it stays until it is withdrawn."`
	Dismissible bool        `default:"true" negatable:"" help:"Readers may close it for good."`
	JSON        bool        `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*noticePublishCmd) Help() string {
	return `The HTML may have text, headings, lists, tables and links; everything else is taken out of it.

Example:
  gonebox notice publish --title "Maintenance" --html "<p>Sunday from 2:00</p>" --ends 2026-02-01T03:00:00Z`
}

// Run publishes the notice.
func (n *noticePublishCmd) Run(c *console) error {
	html, err := n.html()
	if err != nil {
		return err
	}
	return n.withPress(c, func(press *app.Press) error {
		row, err := press.Publish(c, app.NoticeDraft{
			Kind: n.Kind, Level: n.Level, Title: n.Title, HTML: html, Locale: n.Locale, Starts: n.Starts.Time, Ends: n.Ends.Time,
			Dismissible: n.Dismissible,
		})
		if err != nil {
			return err
		}
		return reportNotice(c, n.JSON, row)
	})
}

type noticeListCmd struct {
	configFlags
	Limit int  `default:"50" help:"How many at most: 1 to 1000."`
	JSON  bool `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*noticeListCmd) Help() string {
	return `Example:
  gonebox notice list --limit 10`
}

// Run lists the notices.
func (n *noticeListCmd) Run(c *console) error {
	const limitMax = 1000
	if n.Limit < 1 || n.Limit > limitMax {
		return usageError{fmt.Errorf("--limit %d: must be from 1 to %d", n.Limit, limitMax)}
	}
	return n.withPress(c, func(press *app.Press) error {
		rows, err := press.Notices(c, n.Limit)
		if err != nil {
			return err
		}
		if n.JSON {
			return printJSON(c.out, rows)
		}
		return printNotices(c.out, rows)
	})
}

type noticeWithdrawCmd struct {
	configFlags
	ID   string `arg:"" name:"id" help:"The notice's identifier."`
	JSON bool   `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*noticeWithdrawCmd) Help() string {
	return `Example:
  gonebox notice withdraw ntc_01kkp3fdg0e00b4e47hwdxd73g`
}

// Run withdraws the notice.
func (n *noticeWithdrawCmd) Run(c *console) error {
	return n.withPress(c, func(press *app.Press) error {
		row, err := press.Withdraw(c, n.ID)
		if err != nil {
			return err
		}
		return reportNotice(c, n.JSON, row)
	})
}

func reportNotice(c *console, asJSON bool, row app.NoticeRow) error {
	if asJSON {
		return printJSON(c.out, row)
	}
	return printNotices(c.out, []app.NoticeRow{row})
}

func printNotices(w io.Writer, rows []app.NoticeRow) error {
	table := [][]string{{"ID", "STATE", "KIND", "LEVEL", "LOCALE", "STARTS", "ENDS", "TITLE"}}
	for _, r := range rows {
		ends := "-"
		if r.EndsAt != nil {
			ends = r.EndsAt.String()
		}
		table = append(table, []string{string(r.ID), r.State, r.Kind, r.Level, localeText(r.Locale), r.StartsAt.String(), ends, r.Title})
	}
	return printTable(w, table)
}

// localeText is a locale in a table; a hyphen is none.
func localeText(locale *string) string {
	if locale == nil {
		return "-"
	}
	return *locale
}
