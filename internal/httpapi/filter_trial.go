package httpapi

import (
	"context"

	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/otp"
)

// filterTest is the body that tries a filter.
type filterTest struct {
	_      struct{}     `additionalProperties:"false"`
	Filter testedFilter `json:"filter" doc:"The filter to try; it need not exist."`
	Sample filterSample `json:"sample" doc:"The mail to try it on."`
}

type testedFilter struct {
	_ struct{} `additionalProperties:"false"`
	FilterPatterns
}

type filterSample struct {
	_       struct{} `additionalProperties:"false"`
	From    string   `json:"from,omitempty" maxLength:"998" doc:"The sender's address." example:"no-reply@shop.example"`
	Subject string   `json:"subject,omitempty" maxLength:"4096" doc:"The subject of the sample." example:"Your sign-in code"`
	Text    string   `json:"text,omitempty" doc:"The text part; the text of the HTML if a mail has no text part." example:"Your sign-in code is 246810."`
}

// FilterTrial is the result of trying a filter on a sample.
type FilterTrial struct {
	Matched     bool              `json:"matched" doc:"Whether the filter found a code."`
	Code        *string           `json:"code" nullable:"true" doc:"The code that the filter extracts, ready to paste, or null." example:"246810"`
	Step        otp.Step          `json:"step" enum:"from,subject,extract,matched" doc:"The step at which the filter stopped."`
	BuiltinCode *string           `json:"builtinCode" nullable:"true" doc:"The code that the built-in extractor finds, or null." example:"246810"`
	Candidates  []FilterCandidate `json:"candidates" nullable:"false" doc:"The candidates of the built-in extractor, in the order of the text."`
}

// FilterCandidate is a candidate of the built-in extractor.
type FilterCandidate struct {
	Value   string   `json:"value" doc:"Ready to paste." example:"246810"`
	Display string   `json:"display" doc:"As the sample writes it." example:"246 810"`
	Where   string   `json:"where" enum:"subject,preheader,text,html" doc:"The part of the mail in which the candidate stands."`
	Score   float64  `json:"score" doc:"The score of the candidate; the one with the highest is chosen if it reaches the threshold." example:"4.2"`
	Reasons []string `json:"reasons" nullable:"false" doc:"What raised and lowered the score, and why."`
	Chosen  bool     `json:"chosen" doc:"Whether the extractor would return this candidate."`
}

func (a *API) tryFilter(_ context.Context, in *struct{ Body filterTest }) (*httpkit.One[FilterTrial], error) {
	sample := filter.Mail{From: in.Body.Sample.From, Subject: in.Body.Sample.Subject, Text: in.Body.Sample.Text}
	t, err := filter.Try(in.Body.Filter.patterns(), sample, "/filter")
	if err != nil {
		return nil, err
	}
	shown := FilterTrial{Step: t.Step, BuiltinCode: textOrNull(t.Builtin.Result.Code), Candidates: []FilterCandidate{}}
	if t.Found != nil {
		shown.Matched, shown.Code = true, &t.Found.Code
	}
	for _, c := range t.Builtin.Candidates {
		reasons := c.Reasons
		if reasons == nil {
			reasons = []string{}
		}
		shown.Candidates = append(shown.Candidates, FilterCandidate{c.Value, c.Display, c.Where, c.Score, reasons, c.Chosen})
	}
	return httpkit.Single(shown), nil
}
