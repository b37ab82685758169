package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// printJSON prints v as indented JSON. It does not escape <, > and &, which HTML but no terminal needs.
func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// printTable prints rows in columns, aligned with spaces; the first row is the heading. Cells must not contain tabs or
// line breaks (see visible).
func printTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// visible replaces the characters of untrusted text that could control the terminal or break a table by U+FFFD.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}
