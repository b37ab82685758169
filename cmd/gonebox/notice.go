package main

import (
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/id"
)

type noticeCmd struct {
	Publish  noticePublishCmd  `cmd:"" help:"Publish a notice."`
	List     noticeListCmd     `cmd:"" help:"List the notices, newest first."`
	Withdraw noticeWithdrawCmd `cmd:"" help:"Stop showing a notice."`
}

// noticeRow is a notice as it is printed. State is computed from the times: whether the notice is shown now.
type noticeRow struct {
	ID          id.Notice    `json:"id"`
	Kind        string       `json:"kind"`
	Level       string       `json:"level"`
	Title       string       `json:"title"`
	HTML        string       `json:"html"`
	Locale      *string      `json:"locale"`
	StartsAt    clock.Stamp  `json:"startsAt"`
	EndsAt      *clock.Stamp `json:"endsAt"`
	Dismissible bool         `json:"dismissible"`
	State       string       `json:"state"`
	CreatedAt   clock.Stamp  `json:"createdAt"`
	WithdrawnAt *clock.Stamp `json:"withdrawnAt"`
}

func noticeRowOf(o *app.Operator, n *content.Notice) noticeRow {
	return noticeRow{
		ID: n.ID, Kind: string(n.Kind), Level: string(n.Level), Title: n.Title, HTML: n.HTML, Locale: localeOrNull(n.Locale),
		StartsAt: clock.Stamp{Time: n.StartsAt}, EndsAt: clock.Optional(n.EndsAt), Dismissible: n.Dismissible, State: string(n.State(o.Clock.Now())),
		CreatedAt: clock.Stamp{Time: n.CreatedAt}, WithdrawnAt: clock.Optional(n.WithdrawnAt),
	}
}

type noticePublishCmd struct {
	configFlags
	htmlFlags
	Title       string      `required:"" help:"Title, one line."`
	Kind        string      `enum:"banner,dialog" default:"banner" help:"banner or dialog; a dialog has to be closed by the reader."`
	Level       string      `enum:"info,warning,critical" default:"info" help:"info, warning or critical."`
	Locale      string      `placeholder:"TAG" help:"Show it only to readers of this language, such as vi; default: all."`
	Starts      clock.Stamp `placeholder:"TIME" help:"When it is first shown, such as 2026-01-31T12:00:00Z; default: now."`
	Ends        clock.Stamp `placeholder:"TIME" help:"When it is last shown; default: until it is withdrawn."`
	Dismissible bool        `default:"true" negatable:"" help:"Let readers hide it permanently."`
	JSON        bool        `help:"Print JSON."`
}

// Run publishes the notice.
func (n *noticePublishCmd) Run(c *console) error {
	html, err := n.html(c)
	if err != nil {
		return err
	}
	return n.operate(c, func(o *app.Operator) error {
		published, err := o.Content.Publish(c, content.Draft{
			Kind: content.Kind(n.Kind), Level: content.Level(n.Level), Title: n.Title, HTML: html, Locale: content.Locale(n.Locale),
			StartsAt: n.Starts.Time, EndsAt: n.Ends.Time, Dismissible: n.Dismissible,
		})
		if err != nil {
			return err
		}
		return printOne(c, n.JSON, noticeRowOf(o, published), printNotices)
	})
}

type noticeListCmd struct {
	configFlags
	limitFlag
	JSON bool `help:"Print JSON."`
}

// Run lists the notices.
func (n *noticeListCmd) Run(c *console) error {
	if err := n.check(); err != nil {
		return err
	}
	return n.operate(c, func(o *app.Operator) error {
		all, err := o.Content.Notices(c, "", n.Limit)
		if err != nil {
			return err
		}
		rows := rowsOf(all, func(n *content.Notice) noticeRow { return noticeRowOf(o, n) })
		return printAll(c, n.JSON, rows, printNotices)
	})
}

type noticeWithdrawCmd struct {
	configFlags
	ID   string `arg:"" name:"id" help:"Identifier of the notice."`
	JSON bool   `help:"Print JSON."`
}

// Run withdraws the notice.
func (n *noticeWithdrawCmd) Run(c *console) error {
	notice, err := id.Parse[id.Notice](n.ID)
	if err != nil {
		return fmt.Errorf("%q is not the identifier of a notice: %w", n.ID, err)
	}
	return n.operate(c, func(o *app.Operator) error {
		withdrawn, err := o.Content.Withdraw(c, notice)
		if err != nil {
			return err
		}
		return printOne(c, n.JSON, noticeRowOf(o, withdrawn), printNotices)
	})
}

func printNotices(w io.Writer, rows []noticeRow) error {
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

// localeOrNull returns a locale for JSON, where none is null.
func localeOrNull(l content.Locale) *string {
	if l == "" {
		return nil
	}
	return new(string(l))
}

// localeText returns a locale for a table, where none is a hyphen.
func localeText(locale *string) string {
	if locale == nil {
		return "-"
	}
	return *locale
}
