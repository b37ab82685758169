package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/content"
)

type pageCmd struct {
	Put    pagePutCmd    `cmd:"" help:"Publish or replace a page."`
	List   pageListCmd   `cmd:"" help:"List the pages."`
	Remove pageRemoveCmd `cmd:"" help:"Remove a page."`
}

// pageRow is a page as it is printed. Lists omit the HTML.
type pageRow struct {
	Key       string      `json:"key"`
	Locale    *string     `json:"locale"`
	Title     string      `json:"title"`
	HTML      string      `json:"html,omitempty"`
	UpdatedAt clock.Stamp `json:"updatedAt"`
}

// pageRowOf returns a page as it is printed.
func pageRowOf(p *content.Page) pageRow {
	return pageRow{Key: p.Key, Locale: localeOrNull(p.Locale), Title: p.Title, HTML: p.HTML, UpdatedAt: clock.Stamp{Time: p.UpdatedAt}}
}

// htmlFlags are the flags that give HTML.
type htmlFlags struct {
	HTML     *string `xor:"html" placeholder:"TEXT" help:"HTML to publish."`
	HTMLFile string  `xor:"html" placeholder:"FILE" help:"Read the HTML from a file; - reads standard input."`
}

// htmlMax is the maximum size of the HTML that is read, in octets. Package content accepts less.
const htmlMax = 1 << 20

// html returns the HTML, or "" if neither flag is set.
func (f *htmlFlags) html(c *console) (string, error) {
	switch {
	case f.HTML != nil:
		return *f.HTML, nil
	case f.HTMLFile == "":
		return "", nil
	}
	file, err := c.open(f.HTMLFile)
	if err != nil {
		return "", fmt.Errorf("--html-file: %w", err)
	}
	defer file.Close()
	return readHTML(file)
}

// isSet reports whether one of the flags is set.
func (f *htmlFlags) isSet() bool { return f.HTML != nil || f.HTMLFile != "" }

func readHTML(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, htmlMax+1))
	if err == nil && len(text) > htmlMax {
		err = errors.New("it is larger than 1 MiB")
	}
	if err != nil {
		return "", fmt.Errorf("read the HTML: %w", err)
	}
	return string(text), nil
}

type pagePutCmd struct {
	configFlags
	htmlFlags
	Key    string `arg:"" help:"Name of the page in its path, such as terms-of-use."`
	Title  string `required:"" help:"Title of the page."`
	Locale string `placeholder:"TAG" help:"Language of the page, such as vi. Readers without a page in their language get the one without a language."`
	JSON   bool   `help:"Print JSON."`
}

// Run publishes the page.
func (p *pagePutCmd) Run(c *console) error {
	if !p.isSet() {
		return usageError{errors.New("missing flags: --html=TEXT or --html-file=FILE")}
	}
	html, err := p.html(c)
	if err != nil {
		return err
	}
	return p.operate(c, func(o *app.Operator) error {
		page, err := o.Content.Put(c, content.Page{Key: p.Key, Locale: content.Locale(p.Locale), Title: p.Title, HTML: html})
		if err != nil {
			return err
		}
		return printOne(c, p.JSON, pageRowOf(page), printPages)
	})
}

type pageListCmd struct {
	configFlags
	JSON bool `help:"Print JSON."`
}

// Run lists the pages.
func (p *pageListCmd) Run(c *console) error {
	return p.operate(c, func(o *app.Operator) error {
		all, err := o.Content.Every(c)
		if err != nil {
			return err
		}
		rows := rowsOf(all, pageRowOf)
		return printAll(c, p.JSON, rows, printPages)
	})
}

type pageRemoveCmd struct {
	configFlags
	Key         string `arg:"" help:"Name of the page."`
	Locale      string `xor:"locale" placeholder:"TAG" help:"Remove the page in this language; default: the one without a language."`
	EveryLocale bool   `xor:"locale" help:"Remove the page in every language."`
	JSON        bool   `help:"Print JSON."`
}

// Run removes the page.
func (p *pageRemoveCmd) Run(c *console) error {
	return p.operate(c, func(o *app.Operator) error {
		n, err := o.Content.Remove(c, p.Key, content.Locale(p.Locale), p.EveryLocale)
		if err != nil {
			return err
		}
		if p.JSON {
			return printJSON(c.out, struct {
				Removed int `json:"removed"`
			}{n})
		}
		_, err = fmt.Fprintf(c.out, "%d removed.\n", n)
		return err
	})
}

func printPages(w io.Writer, rows []pageRow) error {
	table := [][]string{{"KEY", "LOCALE", "UPDATED", "TITLE"}}
	for _, r := range rows {
		table = append(table, []string{r.Key, localeText(r.Locale), r.UpdatedAt.String(), r.Title})
	}
	return printTable(w, table)
}
