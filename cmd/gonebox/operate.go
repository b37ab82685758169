package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/problem"
)

// operate opens the database of a service, runs a command on it and closes it.
func (f *configFlags) operate(c *console, command func(*app.Operator) error) error {
	cfg, err := f.load(c, nil)
	if err != nil {
		return err
	}
	operator, err := app.OpenOperator(c, cfg)
	if err != nil {
		return err
	}
	defer operator.Close()
	return inWords(command(operator))
}

// inWords says a problem in words for a terminal: what is wrong with which part of the input.
func inWords(err error) error {
	p, known := problem.From(err)
	if err == nil || !known {
		return err
	}
	if len(p.Fields) == 0 {
		text := strings.ToLower(p.Title()[:1]) + p.Title()[1:]
		if p.Detail != "" {
			text += ": " + p.Detail
		}
		return errors.New(text)
	}
	var parts []string
	for _, f := range p.Fields {
		parts = append(parts, strings.TrimPrefix(f.Pointer, "/")+" "+f.Message)
	}
	return errors.New(strings.Join(parts, "; "))
}

// limitFlag bounds a list.
type limitFlag struct {
	Limit int `default:"50" help:"How many at most: 1 to 1000."`
}

// check refuses a limit out of bounds.
func (l *limitFlag) check() error {
	const limitMax = 1000
	if l.Limit < 1 || l.Limit > limitMax {
		return usageError{fmt.Errorf("--limit %d: must be from 1 to %d", l.Limit, limitMax)}
	}
	return nil
}

// printOne prints one row, as JSON or as a table.
func printOne[T any](c *console, asJSON bool, row T, table func(io.Writer, []T) error) error {
	if asJSON {
		return printJSON(c.out, row)
	}
	return table(c.out, []T{row})
}

// printPage prints rows, as JSON or as a table. Where one row more than the limit was read it says how to go on: behind the row that
// last names.
func printPage[T any](c *console, asJSON bool, rows []T, limit int, last func(T) string, table func(io.Writer, []T) error) error {
	more := len(rows) > limit
	rows = rows[:min(len(rows), limit)]
	if asJSON {
		return printJSON(c.out, rows)
	}
	if err := table(c.out, rows); err != nil || !more {
		return err
	}
	_, err := fmt.Fprintf(c.out, "More: --after %s\n", last(rows[len(rows)-1]))
	return err
}

// rowsOf converts what a domain returns into rows, which are never null in JSON.
func rowsOf[T, R any](all []T, row func(T) R) []R {
	rows := make([]R, len(all))
	for i, v := range all {
		rows[i] = row(v)
	}
	return rows
}
