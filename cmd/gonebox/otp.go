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

// Help is shown below the commands.
func (*otpCmd) Help() string {
	return `Example:
  gonebox otp explain mail.eml`
}

type otpExplainCmd struct {
	File string `arg:"" placeholder:"FILE.eml" help:"Mail in the format of RFC 5322; - reads standard input."`
	JSON bool   `help:"Print JSON."`
}

// Help is shown below the flags of the command.
func (*otpExplainCmd) Help() string {
	return `Prints the code and every candidate with its score and the reasons for it. A mail without a code
is not an error.

Example:
  gonebox otp explain mail.eml
  gonebox otp explain - --json < mail.eml`
}

// explanation is the output with --json. Code, display and kind are empty if there is no code; links and candidates are
// [] if there are none.
type explanation struct {
	Code       string      `json:"code"`
	Display    string      `json:"display"`
	Kind       string      `json:"kind"`
	Confidence float64     `json:"confidence"`
	Links      []string    `json:"links"`
	Candidates []candidate `json:"candidates"`
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
	raw, err := o.read()
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

func (o *otpExplainCmd) read() (raw []byte, err error) {
	name := o.File
	if name == "-" {
		name = "standard input"
		raw, err = io.ReadAll(os.Stdin)
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
		Links: append([]string{}, r.Links...), Candidates: []candidate{},
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
