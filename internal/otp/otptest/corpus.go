// Package otptest reads the labelled mails in testdata and counts how often
// the extractor is right. Only the score command and tests use it. It depends on
// the extractor's public functions, and on the phrases of its lexicon.
package otptest

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// Case is a labelled mail.
type Case struct {
	Name  string // file and line
	Lang  string // BCP 47, the file's name
	Class string // signin, order and so on
	Want  string // the code; empty for none
	Mail  otp.Mail
}

// Read reads a set of labelled mails. The format is explained in
// docs/extraction.md: a line "== class code [layout]", the subject, the text,
// and HTML after a line "--html".
func Read(fsys fs.FS, set string) ([]Case, error) {
	parts, err := ByLanguage(fsys, set)
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, p := range parts {
		cs, err := parse(p)
		if err != nil {
			return nil, err
		}
		all = append(all, cs...)
	}
	return all, nil
}

// Part is what a set has of one language.
type Part struct {
	Lang string // a BCP 47 tag
	Text string
	File string
	Line int // of the text's first line in the file
}

// ByLanguage returns the parts of a set, in the order of their languages: the
// files set/<tag>.txt, or the sections of set.txt that begin with "=== <tag>".
func ByLanguage(fsys fs.FS, set string) ([]Part, error) {
	if text, err := fs.ReadFile(fsys, set+".txt"); err == nil {
		return sections(set+".txt", string(text))
	}
	names, err := fs.Glob(fsys, set+"/*.txt")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no set %s", set)
	}
	var all []Part
	for _, n := range names {
		text, err := fs.ReadFile(fsys, n)
		if err != nil {
			return nil, err
		}
		all = append(all, Part{Lang: strings.TrimSuffix(path.Base(n), ".txt"), Text: string(text), File: path.Base(n), Line: 1})
	}
	return all, nil
}

func sections(file, text string) (all []Part, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if lang, ok := strings.CutPrefix(strings.TrimSpace(line), "=== "); ok {
			all = append(all, Part{Lang: lang, File: file, Line: n + 1})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%s:%d: a line before the first language", file, n)
		}
		all[len(all)-1].Text += line
	}
	return all, nil
}

// parse reads the mails of one language.
func parse(p Part) ([]Case, error) {
	name, text, lang := p.File, p.Text, p.Lang
	var cs []Case
	line := p.Line
	for chunk := range strings.SplitSeq("\n"+text, "\n== ") {
		start := line
		line += strings.Count(chunk, "\n") + 1
		if strings.TrimSpace(chunk) == "" {
			continue
		}
		c, err := parseCase(chunk)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, start-1, err)
		}
		c.Name, c.Lang = fmt.Sprintf("%s:%d", name, start-1), lang
		cs = append(cs, c)
	}
	return cs, nil
}

func parseCase(chunk string) (Case, error) {
	head, rest, _ := strings.Cut(chunk, "\n")
	subject, body, _ := strings.Cut(rest, "\n")
	f := strings.Fields(head)
	if len(f) < 2 {
		return Case{}, fmt.Errorf("head %q: want a class and a code", head)
	}
	c := Case{Class: f[0], Mail: otp.Mail{Subject: subject}}
	layout := ""
	if n := len(f) - 1; n > 1 && layouts[f[n]] != nil {
		layout, f = f[n], f[:n]
	}
	shown := strings.Join(f[1:], " ")
	if shown != "-" {
		c.Want = paste(shown)
	}
	text, html, raw := strings.Cut(body, "--html\n")
	switch {
	case raw:
		c.Mail.Text, c.Mail.HTML = strings.TrimSpace(text), strings.TrimSpace(html)+"\n"
	case layout != "":
		layouts[layout](&c.Mail, strings.TrimSpace(body), shown)
	default:
		c.Mail.Text = strings.TrimSpace(body) + "\n"
	}
	return c, nil
}

// paste is a code as it is to be pasted: digits alone without their spaces
// and hyphens.
func paste(shown string) string {
	for _, r := range shown {
		if (r < '0' || r > '9') && r != ' ' && r != '-' {
			return shown
		}
	}
	return strings.NewReplacer(" ", "", "-", "").Replace(shown)
}
