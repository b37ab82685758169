package mailpit

import (
	"net/http"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/release"
)

// release releases a message to the addresses of the body through the relay, as package release allows it. Each is a message of its own,
// so after an error some may have been handed over; what the relay replies is in the delivery log.
func (a *API) release(w http.ResponseWriter, r *http.Request) {
	err := a.releaseAll(r)
	if p, ok := problem.From(err); ok && (p.Code == problem.RelayMissing || p.Code == problem.RelayNotAllowed) {
		writeError(w, http.StatusBadRequest, p.Reason()) // as Mailpit without a relay, and for addresses that it does not allow
		return
	}
	a.respondOKOrError(w, r, err)
}

// releaseAll is release without the response. Errors: those of release.Service.Release.
func (a *API) releaseAll(r *http.Request) error {
	_, ref, err := a.findMail(r, r.PathValue("id"))
	if err != nil {
		return err
	}
	var body struct{ To []string }
	lease, err := a.kit.ReadJSON(r.Context(), r, &body, httpkit.JSONBounds{Octets: 64 << 10, Tokens: 2 * recipientsMax})
	if err != nil {
		return err
	}
	defer lease.Release()
	if len(body.To) == 0 || len(body.To) > recipientsMax {
		return problem.Invalid("/To", "must have 1 to %d addresses", recipientsMax)
	}
	for _, to := range body.To {
		if err := a.releaseTo(r, ref, to); err != nil {
			return err
		}
	}
	return nil
}

// releaseTo releases a message to an address.
func (a *API) releaseTo(r *http.Request, ref message.Ref, to string) error {
	ctx := r.Context()
	return a.Release.Release(ctx, release.Request{
		Mailbox: ref.Box, Message: ref.Message, To: to,
		Count: func(account id.Account) error {
			// Kit.Count does not count local requests, but what they release leaves the network.
			if d := a.HTTP.Limiter.Take(ratelimit.Release, string(account), a.kit.Limit(ratelimit.Release), 1); !d.OK {
				return d.Problem()
			}
			return nil
		},
		Reserve: func(octets int64) error { return a.kit.Reserve(ctx, budget.Response, octets) },
	})
}
