package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/transcript"
)

// faults registers the group faults (docs/spec/faults.md): the same operations for accounts and for keys.
func (a *API) faults() {
	with := func(method, id, path, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me" + path, Summary: summary, Status: status, Codes: codes, Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		}
	}
	const group = "faults"
	registerForKeys(a, group, with(http.MethodGet, "list-faults", "/faults", "List the fault rules", 200), apikey.MailboxesWrite, a.listFaults)
	registerForKeys(a, group, with(http.MethodPost, "create-fault", "/faults", "Create a fault rule", 201, problem.FaultLimitReached), apikey.MailboxesWrite, a.createFault)
	registerForKeys(a, group, with(http.MethodDelete, "delete-faults", "/faults", "Delete all fault rules", 204), apikey.MailboxesWrite, a.deleteFaults)
	registerForKeys(a, group, with(http.MethodDelete, "delete-fault", "/faults/{id}", "Delete a fault rule", 204, problem.FaultNotFound), apikey.MailboxesWrite, a.deleteFault)
	dialogs := with(http.MethodGet, "list-transcripts", "/transcripts", "List the SMTP dialogs of mails that were refused, newest first", 200)
	registerForKeys(a, group, dialogs, apikey.MessagesRead, a.listTranscripts)
}

// FaultRule is a fault rule as its owner sees it.
type FaultRule struct {
	ID          id.Fault     `json:"id" doc:"The identifier of the rule." example:"fau_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Project     *string      `json:"project" nullable:"true" doc:"The name of the project whose mail it is about, or null for the sink and every project of the account." example:"shop"`
	From        *string      `json:"from" nullable:"true" doc:"A pattern of the sender, or null for every sender." example:"*@shop.example"`
	To          *string      `json:"to" nullable:"true" doc:"A pattern of a recipient, or null for every recipient." example:"ada*@*"`
	Stage       fault.Stage  `json:"stage" enum:"auth,mail,rcpt,data,message" doc:"The command that it answers; message is the reply to the content."`
	Reply       *string      `json:"reply" nullable:"true" doc:"The reply, or null if it only delays or closes." example:"451 4.3.2 Try again later"`
	Delay       int64        `json:"delay" doc:"Seconds before the reply." example:"0"`
	Close       bool         `json:"close" doc:"Whether the connection is closed, after the reply if there is one."`
	Times       *int64       `json:"times" nullable:"true" doc:"How often it answers, or null without end." example:"3"`
	Every       *int64       `json:"every" nullable:"true" doc:"It answers the nth, the 2nth and so on, or null each." example:"2"`
	PerMinute   *int64       `json:"perMinute" nullable:"true" doc:"How many it lets pass in a minute, or null none." example:"10"`
	Probability *float64     `json:"probability" nullable:"true" doc:"The probability of answering, or null for 1." example:"0.5"`
	Seed        *int64       `json:"seed" nullable:"true" doc:"The seed of the probability; the same seed and mails result in the same replies." example:"42"`
	Hits        int64        `json:"hits" doc:"How often it has answered." example:"1"`
	CreatedAt   clock.Stamp  `json:"createdAt" doc:"When the rule was created."`
	EndsAt      *clock.Stamp `json:"endsAt" nullable:"true" doc:"When the rule ends, or null if it stays until it is deleted."`
}

func shownFault(r *fault.Rule) FaultRule {
	shown := FaultRule{
		ID: r.ID, Project: textOrNull(r.Project), From: textOrNull(r.From), To: textOrNull(r.To), Stage: r.Stage, Reply: textOrNull(r.Reply),
		Delay: clock.Seconds(r.Delay), Close: r.Close, Times: numberOrNull(r.Times), Every: numberOrNull(r.Every), PerMinute: numberOrNull(r.PerMinute),
		Probability: numberOrNull(r.Probability), Seed: numberOrNull(r.Seed), Hits: r.Hits(), CreatedAt: clock.Stamp{Time: r.CreatedAt},
		EndsAt: clock.Optional(r.EndsAt()),
	}
	return shown
}

// numberOrNull returns a number of a response, null for 0.
func numberOrNull[T int64 | float64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}

// faultCreation is the body that creates a rule.
type faultCreation struct {
	_           struct{} `additionalProperties:"false"`
	Project     string   `json:"project,omitempty" maxLength:"40" doc:"The name of a project; the sink and every project of the account if absent." example:"shop"`
	From        string   `json:"from,omitempty" maxLength:"320" doc:"A pattern of the sender, in which * stands for any characters. Not with the stage auth." example:"*@shop.example"`
	To          string   `json:"to,omitempty" maxLength:"320" doc:"A pattern of a recipient. Not with the stages auth and mail, at which recipients are not known." example:"ada*@*"`
	Stage       string   `json:"stage" enum:"auth,mail,rcpt,data,message" doc:"The command to answer; message is the reply to the content."`
	Reply       string   `json:"reply,omitempty" maxLength:"400" doc:"A code of 400 to 559, perhaps an enhanced status code, and a text. Required unless delay or close is given." example:"451 4.3.2 Try again later"`
	Delay       int64    `json:"delay,omitempty" minimum:"0" maximum:"300" doc:"Seconds to wait before the reply, or before going on if there is none."`
	Close       bool     `json:"close,omitempty" doc:"Close the connection, after the reply if there is one."`
	Times       *int64   `json:"times,omitempty" minimum:"1" maximum:"1000000" doc:"How often to answer; without end if absent."`
	Every       *int64   `json:"every,omitempty" minimum:"1" maximum:"1000000" doc:"Answer the nth, the 2nth and so on."`
	PerMinute   *int64   `json:"perMinute,omitempty" minimum:"1" maximum:"1000000" doc:"Let so many pass in a minute, and answer the rest."`
	Probability *float64 `json:"probability,omitempty" minimum:"0.000001" maximum:"1" doc:"The probability of answering."`
	Seed        *int64   `json:"seed,omitempty" minimum:"1" maximum:"9007199254740991" doc:"The seed of the probability; random if absent."`
	For         *int64   `json:"for,omitempty" minimum:"1" maximum:"604800" doc:"Seconds after which the rule is deleted."`
}

func (c faultCreation) settings() fault.Settings {
	return fault.Settings{
		Project: c.Project, From: c.From, To: c.To, Stage: fault.Stage(c.Stage), Reply: c.Reply, Delay: time.Duration(c.Delay) * time.Second, Close: c.Close,
		Times: value(c.Times), Every: value(c.Every), PerMinute: value(c.PerMinute), Probability: value(c.Probability), Seed: value(c.Seed),
		For: time.Duration(value(c.For)) * time.Second,
	}
}

func (a *API) listFaults(ctx context.Context, _ *struct{}) (*httpkit.Many[FaultRule], error) {
	rules, err := a.Faults.List(ctx, accountOf(ctx))
	if err != nil {
		return nil, err
	}
	shown := make([]FaultRule, len(rules))
	for i, r := range rules {
		shown[i] = shownFault(r)
	}
	return httpkit.Page(shown, ""), nil
}

func (a *API) createFault(ctx context.Context, in *struct{ Body faultCreation }) (*httpkit.One[FaultRule], error) {
	rule, err := a.Faults.Create(ctx, accountOf(ctx), in.Body.settings())
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownFault(rule)), nil
}

func (a *API) deleteFaults(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, a.Faults.DeleteAll(ctx, accountOf(ctx))
}

func (a *API) deleteFault(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The rule's id."`
},
) (*struct{}, error) {
	rule, err := id.Parse[id.Fault](in.ID)
	if err != nil {
		return nil, problem.New(problem.FaultNotFound)
	}
	return nil, a.Faults.Delete(ctx, accountOf(ctx), rule)
}

// Transcript is the SMTP dialog of a mail.
type Transcript struct {
	At      clock.Stamp       `json:"at" doc:"When the mail ended: with the reply to its content, or before."`
	Project *string           `json:"project" nullable:"true" doc:"The name of the project that the client had signed in as, or null for the sink." example:"shop"`
	From    string            `json:"from" doc:"The sender's address in the envelope; empty for a bounce." example:"bounce@shop.example"`
	To      []string          `json:"to" doc:"The recipients that the client named, also those that were refused." example:"[\"ada@example.test\"]"`
	Refused bool              `json:"refused" doc:"Whether a command of the mail was refused."`
	Lines   []transcript.Line `json:"lines" doc:"What was said: how the session began, and everything from MAIL on."`
}

func shownTranscript(t *transcript.Transcript) Transcript {
	shown := Transcript{At: clock.Stamp{Time: t.At}, Project: textOrNull(t.Project), From: t.From, To: t.To, Refused: t.Refused, Lines: t.Lines}
	if shown.To == nil {
		shown.To = []string{}
	}
	return shown
}

func (a *API) getTranscript(ctx context.Context, in *MessagePath) (*httpkit.One[Transcript], error) {
	box, m, err := a.locate(ctx, *in)
	if err != nil {
		return nil, err
	}
	if _, err := a.Messages.Summary(ctx, box, m); err != nil {
		return nil, err
	}
	t, err := a.Transcripts.Of(ctx, m)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownTranscript(t)), nil
}

func (a *API) listTranscripts(ctx context.Context, in *struct {
	Since string `query:"since" maxLength:"64" doc:"Only those that ended after this RFC 3339 time."`
	httpkit.Paging
},
) (*httpkit.Many[Transcript], error) {
	_, since, err := Newer{Since: in.Since}.bounds()
	if err != nil {
		return nil, err
	}
	last, err := httpkit.Before[id.Transcript](in.Paging)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(in.Paging)
	all, err := a.Transcripts.Refused(ctx, accountOf(ctx), since, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(t *transcript.Transcript) string { return string(t.ID) })
	shown := make([]Transcript, len(all))
	for i, t := range all {
		shown[i] = shownTranscript(t)
	}
	return httpkit.Page(shown, next), nil
}
