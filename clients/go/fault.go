package gonebox

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// The commands of an SMTP session that a FaultRule answers.
const (
	AtAuth    = "auth" // the credentials
	AtMail    = "mail"
	AtRcpt    = "rcpt"
	AtData    = "data"    // DATA itself
	AtMessage = "message" // the content
)

// FaultRule says which command the service answers with what, on purpose. It needs Reply, Delay or Close. What else is zero is left out.
type FaultRule struct {
	Project  string // the name of a project; "": the sink and every project of the account
	From, To string // patterns of the sender and of a recipient, in which * stands for any characters
	Stage    string // AtAuth, AtMail, AtRcpt, AtData or AtMessage

	Reply string        // a code of 400 to 559, perhaps an enhanced status code, and a text
	Delay time.Duration // before the reply, or before the command is executed if there is none; in whole seconds
	Close bool          // closes the connection, after Reply if there is one

	Times       int           // how often the rule answers
	Every       int           // answers the nth, the 2nth and so on
	PerMinute   int           // lets so many pass in a minute, and answers the rest
	Probability float64       // of answering
	Seed        int64         // the same seed and mails result in the same replies
	For         time.Duration // after which the rule is deleted; in whole seconds
}

// Fault is a stored rule. Hits counts its answers. EndsAt is the zero Time if it stays until it is deleted.
type Fault struct {
	ID string
	FaultRule
	Hits              int
	CreatedAt, EndsAt time.Time
}

// faultBody is a rule as the service takes it.
type faultBody struct {
	Project     string  `json:"project,omitempty"`
	From        string  `json:"from,omitempty"`
	To          string  `json:"to,omitempty"`
	Stage       string  `json:"stage"`
	Reply       string  `json:"reply,omitempty"`
	Delay       int64   `json:"delay,omitempty"`
	Close       bool    `json:"close,omitempty"`
	Times       int     `json:"times,omitempty"`
	Every       int     `json:"every,omitempty"`
	PerMinute   int     `json:"perMinute,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	Seed        int64   `json:"seed,omitempty"`
	For         int64   `json:"for,omitempty"`
}

// faultData is a rule as the service sends it.
type faultData struct {
	faultBody
	ID                string
	Hits              int
	CreatedAt, EndsAt time.Time
}

// fault returns the rule as a caller sees it.
func (d faultData) fault() Fault {
	rule := FaultRule{
		Project: d.Project, From: d.From, To: d.To, Stage: d.Stage, Reply: d.Reply, Delay: time.Duration(d.Delay) * time.Second, Close: d.Close,
		Times: d.Times, Every: d.Every, PerMinute: d.PerMinute, Probability: d.Probability, Seed: d.Seed,
	}
	if !d.EndsAt.IsZero() {
		rule.For = d.EndsAt.Sub(d.CreatedAt).Round(time.Second)
	}
	return Fault{ID: d.ID, FaultRule: rule, Hits: d.Hits, CreatedAt: d.CreatedAt, EndsAt: d.EndsAt}
}

// Faults lists the rules by which the sink and the projects of the account fail on purpose, in the order in which they are tried. Like
// Project it needs a key (mailboxes:write), a user token, or a service on this machine that runs with --dev.
func (g *Gonebox) Faults(ctx context.Context) ([]Fault, error) {
	c, path, err := g.owner(ctx)
	if err != nil {
		return nil, err
	}
	var all []faultData
	if err := c.data(ctx, http.MethodGet, path+"/faults", nil, &all); err != nil {
		return nil, err
	}
	faults := make([]Fault, len(all))
	for i, d := range all {
		faults[i] = d.fault()
	}
	return faults, nil
}

// AddFault adds a rule behind those that are there. Error: *Error, such as fault.limit_reached.
func (g *Gonebox) AddFault(ctx context.Context, r FaultRule) (Fault, error) {
	c, path, err := g.owner(ctx)
	if err != nil {
		return Fault{}, err
	}
	body := faultBody{
		Project: r.Project, From: r.From, To: r.To, Stage: r.Stage, Reply: r.Reply, Delay: wholeSeconds(r.Delay), Close: r.Close,
		Times: r.Times, Every: r.Every, PerMinute: r.PerMinute, Probability: r.Probability, Seed: r.Seed, For: wholeSeconds(r.For),
	}
	var stored faultData
	if err := c.data(ctx, http.MethodPost, path+"/faults", body, &stored); err != nil {
		return Fault{}, err
	}
	return stored.fault(), nil
}

// DeleteFault deletes a rule. Error: *Error, such as fault.not_found.
func (g *Gonebox) DeleteFault(ctx context.Context, id string) error {
	return g.deleteFaults(ctx, "/"+url.PathEscape(id))
}

// DeleteFaults deletes all rules. Greylists have forgotten their tries then.
func (g *Gonebox) DeleteFaults(ctx context.Context) error { return g.deleteFaults(ctx, "") }

func (g *Gonebox) deleteFaults(ctx context.Context, rule string) error {
	c, path, err := g.owner(ctx)
	if err != nil {
		return err
	}
	return c.data(ctx, http.MethodDelete, path+"/faults"+rule, nil, nil)
}

// Transcripts lists the SMTP dialogs of mails for the sink and for projects of which a command was refused, or answered by closing the connection, newest first: those that ended
// after since, all that there are if it is zero. The service keeps them for a day. Mailbox.Transcript has that of a message.
func (g *Gonebox) Transcripts(ctx context.Context, since time.Time) ([]Transcript, error) {
	c, path, err := g.owner(ctx)
	if err != nil {
		return nil, err
	}
	query := url.Values{"limit": {"100"}}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339Nano))
	}
	var all []Transcript
	for {
		var page struct {
			Data       []Transcript
			NextCursor string
		}
		if err := c.json(ctx, http.MethodGet, path+"/transcripts?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Data...); page.NextCursor == "" {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// Faults lists the rules that name the project.
func (p *Project) Faults(ctx context.Context) (own []Fault, err error) {
	all, err := p.service.Faults(ctx)
	for _, f := range all {
		if f.Project == p.Name {
			own = append(own, f)
		}
	}
	return own, err
}

// AddFault adds a rule for mail of the project alone.
func (p *Project) AddFault(ctx context.Context, r FaultRule) (Fault, error) {
	r.Project = p.Name
	return p.service.AddFault(ctx, r)
}

// DeleteFault deletes a rule.
func (p *Project) DeleteFault(ctx context.Context, id string) error {
	return p.service.DeleteFault(ctx, id)
}

// DeleteFaults deletes the rules that name the project.
func (p *Project) DeleteFaults(ctx context.Context) error {
	own, err := p.Faults(ctx)
	for _, f := range own {
		if err := p.service.DeleteFault(ctx, f.ID); err != nil && !hasCode(err, "fault.not_found") {
			return err
		}
	}
	return err
}

// Transcripts lists the SMTP dialogs of the project's mails of which a command was refused, or answered by closing the connection, newest first.
func (p *Project) Transcripts(ctx context.Context, since time.Time) (own []Transcript, err error) {
	all, err := p.service.Transcripts(ctx, since)
	for _, t := range all {
		if t.Project == p.Name {
			own = append(own, t)
		}
	}
	return own, err
}
