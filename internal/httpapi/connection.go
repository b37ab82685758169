package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/problem"
)

// beyond refuses a request on a connection beyond the limits, but for a probe: a client that takes all connections must not make the service
// look dead to those that watch it (docs/decisions/0036). The connection is closed after the answer.
func (a *API) beyond(w http.ResponseWriter, r *http.Request) (refused bool) {
	var p *problem.Problem
	switch connlimit.Of(r.Context()) {
	case connlimit.ByAddress:
		p = problem.Detailf(problem.RateLimited, "%d connections are open from your address; close one first, or use one for several requests", a.Settings.Connections)
	case connlimit.ByAll:
		p = problem.Detailf(problem.ServerUnavailable, "there are as many connections as the process can have")
	default:
		return false
	}
	w.Header().Set("Connection", "close")
	if isProbe(r.URL.Path) {
		return false
	}
	p.RetryAfter = time.Second
	a.answer(r.Context(), w, p)
	return true
}

func isProbe(path string) bool {
	path = strings.TrimPrefix(path, BasePath)
	return path == "/healthz" || path == "/readyz"
}
