package mcp

import (
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/apiclient"
)

// diagnosis says why a wait found nothing. Unlike that of the API, which quotes messages, it consists of codes, numbers and fixed
// sentences.
type diagnosis struct {
	Summary string  `json:"summary" jsonschema:"What happened instead, likeliest first."`
	Causes  []cause `json:"causes" jsonschema:"The causes, likeliest first."`
}

// cause is one kind of cause.
type cause struct {
	Code  string `json:"code" jsonschema:"What happened."`
	Count int    `json:"count" jsonschema:"How often, at most 5."`
}

// Diagnosed is embedded in the results of the tools that wait, which is why the type is exported. Its member is absent unless status is timeout.
type Diagnosed struct {
	Diagnosis *diagnosis `json:"diagnosis,omitempty" jsonschema:"With the status timeout: why nothing was found."`
}

// newDiagnosis returns the diagnosis without anything that a sender wrote; nil for nil, or if no code is known.
func newDiagnosis(d *apiclient.Diagnosis) *diagnosis {
	if d == nil {
		return nil
	}
	out := new(diagnosis)
	var sentences []string
	for _, c := range d.Causes {
		sentence := sentenceOf(c.Code)
		if sentence == "" { // of a newer service
			continue
		}
		if i := slices.IndexFunc(out.Causes, func(other cause) bool { return other.Code == c.Code }); i >= 0 {
			out.Causes[i].Count++
			continue
		}
		out.Causes, sentences = append(out.Causes, cause{c.Code, 1}), append(sentences, sentence)
	}
	if out.Summary = strings.Join(sentences, " "); out.Summary == "" {
		return nil
	}
	return out
}

// sentenceOf returns what a cause means and what to do about it, "" for an unknown code.
func sentenceOf(code string) string {
	switch code {
	case "blocked":
		return "Mail for the address was refused: the sender or the recipient is blocked."
	case "mailbox_full":
		return "Mail for the address was refused: the mailbox is full. Create another one."
	case "quota":
		return "Mail for the address was refused: it had its mail for today. Create another mailbox."
	case "refused":
		return "Mail for the address was refused."
	case "no_code":
		return "A message arrived without a code. read_message reads it."
	case "no_link":
		return "A message arrived without a link to follow. read_message reads it."
	case "filtered":
		return "A message arrived that the arguments leave out: wait with fewer of them."
	case "arrived_before":
		return "A message that matches arrived before: wait without after."
	case "other_address":
		return "A message arrived for a similar address: check the address that was given to the site."
	case "nothing_arrived":
		return "No mail arrived during the wait or the minute before it: check the address that was given to the site."
	}
	return ""
}
