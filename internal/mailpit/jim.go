package mailpit

import (
	"encoding/json"
	"net/http"

	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/problem"
)

// jim is the chaos monkey of MailHog. The names of the fields are those in JSON, and chances are from 0 to 1. It is stored as well. The link
// speed has no effect.
type jim struct {
	DisconnectChance      float64
	AcceptChance          float64
	LinkSpeedAffect       float64
	LinkSpeedMin          float64
	LinkSpeedMax          float64
	RejectSenderChance    float64
	RejectRecipientChance float64
	RejectAuthChance      float64
}

// newJim returns the monkey of a MailHog that is started with one and without values for it.
func newJim() jim {
	return jim{
		DisconnectChance: 0.005, AcceptChance: 0.99, LinkSpeedAffect: 0.1, LinkSpeedMin: 1024, LinkSpeedMax: 10240,
		RejectSenderChance: 0.05, RejectRecipientChance: 0.05, RejectAuthChance: 0.05,
	}
}

// rules returns the rules that do what the monkey does. A connection that it does not accept is closed at MAIL, before which nothing says
// whose mail it is for.
func (j *jim) rules() (rules []fault.Settings) {
	add := func(chance float64, s fault.Settings) {
		if chance > 0 {
			s.Probability = min(chance, 1)
			rules = append(rules, s)
		}
	}
	add(1-j.AcceptChance, fault.Settings{Stage: fault.AtMail, Close: true})
	for _, stage := range []fault.Stage{fault.AtMail, fault.AtRcpt, fault.AtData, fault.AtMessage} {
		add(j.DisconnectChance, fault.Settings{Stage: stage, Close: true})
	}
	add(j.RejectAuthChance, fault.Settings{Stage: fault.AtAuth, Reply: "500 Unrecognised command"})
	add(j.RejectSenderChance, fault.Settings{Stage: fault.AtMail, Reply: "550 Invalid sender"})
	add(j.RejectRecipientChance, fault.Settings{Stage: fault.AtRcpt, Reply: "550 Invalid recipient"})
	return rules
}

// storedJim returns the preset of the monkey for the mail that a request is about, and its stored value, nil if there is none.
func (a *API) storedJim(r *http.Request) (p fault.Preset, stored []byte, err error) {
	p, ok, err := a.preset(r.Context(), jimPreset)
	if err == nil && !ok {
		err = problem.New(problem.FaultNotFound)
	}
	if err == nil {
		stored, err = a.Faults.PresetValue(r.Context(), p)
	}
	return p, stored, err
}

// getJim responds with the monkey, or with 404 if there is none.
func (a *API) getJim(w http.ResponseWriter, r *http.Request) {
	_, stored, err := a.storedJim(r)
	if err == nil && stored == nil {
		err = problem.New(problem.FaultNotFound)
	}
	if err != nil {
		a.respondJimError(w, r, err)
		return
	}
	writeJSON(w, json.RawMessage(stored))
}

// createJim enables the monkey of the body, or one with the values of MailHog without a body. It responds with 400 if there is one.
func (a *API) createJim(w http.ResponseWriter, r *http.Request) { a.writeJim(w, r, true) }

// updateJim replaces the monkey. It responds with 404 if there is none.
func (a *API) updateJim(w http.ResponseWriter, r *http.Request) { a.writeJim(w, r, false) }

// writeJim is createJim and updateJim.
func (a *API) writeJim(w http.ResponseWriter, r *http.Request, create bool) {
	p, stored, err := a.storedJim(r)
	switch {
	case err != nil:
	case create && stored != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case !create && stored == nil:
		err = problem.New(problem.FaultNotFound)
	}
	// MailHog takes an AcceptChance that is left out for 0, and then accepts no connection. Here all are accepted.
	var body *struct {
		jim
		AcceptChance *float64
	}
	if err == nil {
		err = a.readSmall(r, &body, create)
	}
	j := newJim()
	switch {
	case err != nil:
	case body != nil:
		j, j.AcceptChance = body.jim, 1
		if body.AcceptChance != nil {
			j.AcceptChance = *body.AcceptChance
		}
	case !create:
		err = problem.Invalid("/body", "is not the JSON that the operation takes")
	}
	if err == nil {
		err = a.setPreset(r.Context(), p, j, j.rules())
	}
	if err != nil {
		a.respondJimError(w, r, err)
		return
	}
	if create {
		w.WriteHeader(http.StatusCreated)
	}
}

// deleteJim disables the monkey. It responds with 404 if there is none.
func (a *API) deleteJim(w http.ResponseWriter, r *http.Request) {
	p, _, err := a.storedJim(r)
	if err == nil {
		err = a.Faults.DeletePreset(r.Context(), p)
	}
	if err != nil {
		a.respondJimError(w, r, err)
	}
}

// respondJimError is respondError, except that 400 and 404 have an empty body, as from MailHog.
func (a *API) respondJimError(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case problem.Has(err, problem.FaultNotFound):
		w.WriteHeader(http.StatusNotFound)
	case problem.Has(err, problem.RequestInvalid):
		w.WriteHeader(http.StatusBadRequest)
	default:
		a.respondError(w, r, err)
	}
}
