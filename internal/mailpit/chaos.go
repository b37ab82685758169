package mailpit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
)

// Faults stores rules by which the server fails on purpose. Package fault implements it.
type Faults interface {
	// SetPreset replaces the rules of a preset. Error: fault.limit_reached.
	SetPreset(ctx context.Context, p fault.Preset, value []byte, rules []fault.Settings) error
	// PresetValue returns the value with which a preset was set, or nil.
	PresetValue(ctx context.Context, p fault.Preset) ([]byte, error)
	// DeletePreset deletes a preset and its rules. Error: fault.not_found.
	DeletePreset(ctx context.Context, p fault.Preset) error
}

// The names of presets. They are stored and must not change.
const (
	chaosPreset = "mailpit"
	jimPreset   = "mailhog"
)

// preset returns the preset with a name for the mail that a request is about: that of a project, or that of the sink and all projects of
// its account. ok is false if there is no such mail.
func (a *API) preset(ctx context.Context, name string) (p fault.Preset, ok bool, err error) {
	p.Name = name
	if project := inbound.ProjectOf(ctx); project != nil {
		p.Account, p.Project = project.Account, project.Name
		return p, true, nil
	}
	if a.Inbound.Sink == nil {
		return p, false, nil
	}
	p.Account, err = a.Inbound.Sink.Account(ctx)
	return p, err == nil, err
}

// chaos are the triggers of Mailpit. The names of the fields are those in JSON. They are stored as well.
type chaos struct {
	Sender, Recipient, Authentication trigger
}

// trigger makes a command fail with an error code, and with a probability in per cent.
type trigger struct {
	ErrorCode   int
	Probability int
}

// complete adds the codes that are left out, as Mailpit does, and checks the triggers. Error: request.invalid, with the sentences of Mailpit.
func (c *chaos) complete() error {
	for _, t := range []struct {
		*trigger
		code int
	}{{&c.Sender, 451}, {&c.Recipient, 451}, {&c.Authentication, 535}} {
		if t.ErrorCode == 0 {
			t.ErrorCode = t.code
		}
		if t.ErrorCode < 400 || t.ErrorCode > 599 {
			return problem.Detailf(problem.RequestInvalid, "error code must be between 400 and 599")
		}
		if t.Probability < 0 || t.Probability > 100 {
			return problem.Detailf(problem.RequestInvalid, "probability must be between 0 and 100")
		}
	}
	return nil
}

// rules returns the rules that do what the triggers say.
func (c *chaos) rules() (rules []fault.Settings) {
	add := func(stage fault.Stage, t trigger, what string) {
		if t.Probability > 0 {
			reply := fmt.Sprintf("%d Chaos %s error", t.ErrorCode, what)
			rules = append(rules, fault.Settings{Stage: stage, Reply: reply, Probability: float64(t.Probability) / 100})
		}
	}
	add(fault.AtAuth, c.Authentication, "authentication")
	add(fault.AtMail, c.Sender, "sender")
	add(fault.AtRcpt, c.Recipient, "recipient")
	return rules
}

// getChaos responds with the triggers.
func (a *API) getChaos(w http.ResponseWriter, r *http.Request) {
	p, ok, err := a.preset(r.Context(), chaosPreset)
	if err == nil && !ok {
		writeError(w, http.StatusBadRequest, "Chaos is not enabled") // as Mailpit without them
		return
	}
	var stored []byte
	if err == nil {
		stored, err = a.Faults.PresetValue(r.Context(), p)
	}
	var c chaos
	if err == nil && stored != nil {
		err = json.Unmarshal(stored, &c)
	}
	if err == nil {
		err = c.complete()
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, c)
}

// putChaos replaces the triggers, and responds with them. Those that are left out have the probability 0.
func (a *API) putChaos(w http.ResponseWriter, r *http.Request) {
	p, ok, err := a.preset(r.Context(), chaosPreset)
	if err == nil && !ok {
		writeError(w, http.StatusBadRequest, "Chaos is not enabled")
		return
	}
	var c chaos
	if err == nil {
		err = a.readSmall(r, &c, false)
	}
	if err == nil {
		err = c.complete()
	}
	if err == nil {
		err = a.setPreset(r.Context(), p, c, c.rules())
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, c)
}

// readSmall decodes a body that sets faults into v.
func (a *API) readSmall(r *http.Request, v any, optional bool) error {
	lease, err := a.kit.ReadJSON(r.Context(), r, v, httpkit.JSONBounds{Octets: 4 << 10, Tokens: 100, Optional: optional})
	if err == nil {
		lease.Release() // v has no texts
	}
	return err
}

// setPreset stores a value and the rules that it was made into.
func (a *API) setPreset(ctx context.Context, p fault.Preset, value any, rules []fault.Settings) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return a.Faults.SetPreset(ctx, p, encoded, rules)
}
