package httpkit

import (
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/problem"
)

// refuseConnection refuses a request on a connection above the limits, unless it is a probe: a client that takes all
// connections must not make the service look dead to its monitoring (docs/decisions/0036). The connection is closed
// after the response.
func (k *Kit) refuseConnection(w http.ResponseWriter, r *http.Request) (refused bool) {
	var p *problem.Problem
	switch connlimit.ExceededLimit(r.Context()) {
	case connlimit.AddressLimit:
		p = problem.Detailf(problem.RateLimited, "%d connections are open from your address; close one first, or use one for several requests", k.Connections)
	case connlimit.ProcessLimit:
		p = problem.Detailf(problem.ServerUnavailable, "there are as many connections as the process can have")
	default:
		return false
	}
	w.Header().Set("Connection", "close")
	if k.probes[r.URL.Path] {
		return false
	}
	p.RetryAfter = time.Second
	k.respond(r.Context(), w, p)
	return true
}
