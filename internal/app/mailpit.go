package app

import (
	"net/http"
	"strings"

	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/mailpit"
	"github.com/gonebox/gonebox/internal/webui"
)

// assembleMailpit creates the server of compat.mailpit, if it is configured. Like everything without credentials it is for local
// requests alone, with every profile, unless it asks for the credentials of a project. Under profile: dev the inbox page is at its root; api is what the page calls.
func (a *App) assembleMailpit(api http.Handler) error {
	if a.mailpitListen == nil {
		return nil
	}
	const indexShare = 4 // of the budget, beside which the index exists
	a.sink.LimitIndex(a.memory.Total() / indexShare)
	kit := a.kitConfig()
	rules := a.local.With("compat.mailpit.hosts", a.cfg.Compat.Mailpit.Hosts)
	kit.CheckLocal = rules.Check
	a.mailpitAPI = mailpit.New(mailpit.Parts{
		HTTP: kit, Mails: a.sink, Messages: a.messages, Checks: a.checks, Inbound: a.inbound, Release: a.newRelease(), Faults: a.faults, SendMax: int64(a.cfg.SMTP.MaxSize), Hostname: a.cfg.SMTP.Hostname,
		Local: rules, Ready: func() bool { return !a.stopping.Load() }, ProjectsOptional: a.cfg.IsDev(), Projects: a.projectsOfMailpit(),
	})
	handler := a.mailpitAPI.Handler()
	if a.cfg.IsDev() {
		var err error
		if handler, err = a.withInbox(handler, api, rules); err != nil {
			return err
		}
	}
	a.mailpit = a.newHTTPServer(a.closeWhenStopping(deleteOnFullDisk(httpkit.Below(a.cfg.Compat.Mailpit.Path, handler))))
	a.mailpit.ConnContext = connlimit.ConnContext
	return nil
}

// withInbox serves the inbox page and the API that it calls beside the Mailpit API, which gets all other requests, and those that are
// not local: it refuses them.
func (a *App) withInbox(rest, api http.Handler, rules *local.Rules) (http.Handler, error) {
	pages, err := webui.Inbox(a.cfg.Compat.Mailpit.Path, rest)
	if err != nil {
		return nil, err
	}
	own := http.StripPrefix(webui.InboxBase, api)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Resource-Policy", "same-site") // as all that the Mailpit API responds with
		isAPI := strings.HasPrefix(r.URL.Path, webui.InboxBase+httpapi.BasePath+"/")
		switch {
		case isAPI && rules.Check(r) == nil:
			own.ServeHTTP(w, r)
		case !isAPI && a.mailpitAPI.Check(r) == nil:
			pages.ServeHTTP(w, r)
		default:
			rest.ServeHTTP(w, r)
		}
	}), nil
}
