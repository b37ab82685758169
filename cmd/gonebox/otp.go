package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/mailparse"
	"github.com/gonebox/gonebox/internal/otp"
)

type otpCmd struct {
	Explain otpExplainCmd `cmd:"" help:"Show which code is found in a mail, and why."`
}

type otpExplainCmd struct {
	File string `arg:"" placeholder:"FILE.eml" help:"Mail in the format of RFC 5322; - reads standard input."`
	JSON bool   `help:"Print JSON."`
}

// explanation is the output with --json. Code, display and kind are empty if there is no code; links and candidates are
// [] if there are none.
type explanation struct {
	Code       string      `json:"code"`
	Display    string      `json:"display"`
	Kind       string      `json:"kind"`
	Confidence float64     `json:"confidence"`
	Links      []string    `json:"links"`
	Action     *action     `json:"action"`
	Candidates []candidate `json:"candidates"`
	Ranked     []ranked    `json:"ranked"`
}

// action is the link that the mail asks its reader to open.
type action struct {
	URL        string  `json:"url"`
	Kind       string  `json:"kind"`
	Confidence float64 `json:"confidence"`
}

// ranked is a link of the mail with what spoke for and against it. Ranked links are in the order of the mail.
type ranked struct {
	URL     string   `json:"url"`
	Text    string   `json:"text"`
	Rank    int      `json:"rank"`
	Reasons []string `json:"reasons"`
}

// candidate is a number or word that could be the code. Candidates are in the order of the mail.
type candidate struct {
	Chosen  bool     `json:"chosen"`
	Value   string   `json:"value"`
	Display string   `json:"display"`
	Where   string   `json:"where"`
	Score   float64  `json:"score"`
	Reasons []string `json:"reasons"`
}

// Run parses the mail as the service parses incoming mail, and prints what the extractor finds. It contacts no
// service, so filters of an account do not apply.
func (o *otpExplainCmd) Run(c *console) error {
	raw, err := o.read(c)
	if err != nil {
		return err
	}
	m := mailparse.Parse(raw)
	e := explain(otp.Mail{From: m.From.Addr, Subject: m.Subject, Text: m.Text, HTML: m.HTML})
	if o.JSON {
		return printJSON(c.out, e)
	}
	return e.print(c.out)
}

func (o *otpExplainCmd) read(c *console) (raw []byte, err error) {
	name := o.File
	if name == "-" {
		name = "standard input"
		raw, err = io.ReadAll(c.in)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err == nil && len(raw) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("read the mail from %s: %w", name, err)
	}
	return raw, nil
}

func explain(m otp.Mail) *explanation {
	found := otp.Explain(m)
	r := found.Result
	e := &explanation{
		Code: r.Code, Display: r.Display, Kind: string(r.Kind), Confidence: r.Confidence,
		Links: append([]string{}, r.Links...), Candidates: []candidate{}, Ranked: []ranked{},
	}
	if a := r.Action; a != nil {
		e.Action = &action{URL: a.URL, Kind: string(a.Kind), Confidence: a.Confidence}
	}
	for _, l := range found.Links {
		e.Ranked = append(e.Ranked, ranked{URL: l.URL, Text: l.Text, Rank: l.Rank, Reasons: append([]string{}, l.Reasons...)})
	}
	for _, f := range found.Candidates {
		e.Candidates = append(e.Candidates, candidate{
			Chosen: f.Chosen, Value: f.Value, Display: f.Display, Where: f.Where, Score: f.Score, Reasons: append([]string{}, f.Reasons...),
		})
	}
	return e
}

func (e *explanation) print(w io.Writer) error {
	if e.Code == "" {
		fmt.Fprintln(w, "No code.")
	} else {
		fmt.Fprintf(w, "Code %s (%s, confidence %v), shown as %s.\n", visible(e.Code), e.Kind, e.Confidence, visible(e.Display))
	}
	for _, link := range e.Links {
		fmt.Fprintf(w, "Link %s\n", visible(link))
	}
	if a := e.Action; a != nil {
		fmt.Fprintf(w, "Action %s: %s (confidence %v).\n", a.Kind, visible(a.URL), a.Confidence)
	} else {
		fmt.Fprintln(w, "No action.")
	}
	if len(e.Ranked) > 0 {
		fmt.Fprintln(w)
		if err := e.printLinks(w); err != nil {
			return err
		}
	}
	if len(e.Candidates) == 0 {
		_, err := fmt.Fprintln(w, "No candidates.")
		return err
	}
	fmt.Fprintln(w)
	table := [][]string{{"", "CANDIDATE", "WHERE", "SCORE", "REASONS"}}
	for _, f := range e.Candidates {
		mark := ""
		if f.Chosen {
			mark = "*"
		}
		table = append(table, []string{
			mark, visible(f.Display), f.Where, strconv.FormatFloat(f.Score, 'f', 2, 64), visible(strings.Join(f.Reasons, "; ")),
		})
	}
	return printTable(w, table)
}

// printLinks prints what spoke for and against each link. One of rank 4 or more is given, unless it is said why not.
func (e *explanation) printLinks(w io.Writer) error {
	table := [][]string{{"", "LINK", "TEXT", "RANK", "REASONS"}}
	for _, l := range e.Ranked {
		mark := ""
		if e.Action != nil && e.Action.URL == l.URL {
			mark = "*"
		}
		table = append(table, []string{mark, visible(l.URL), truncate(visible(l.Text)), strconv.Itoa(l.Rank), visible(strings.Join(l.Reasons, "; "))})
	}
	return printTable(w, table)
}
