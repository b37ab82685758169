package app

import (
	"log/slog"
	"net"
	"net/http"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/mcp"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/webui"
)

// deleteOnFullDisk lets DELETE requests use the disk space in reserve, so that they succeed on a full disk
// (docs/spec/running.md#silent-database-and-full-disk).
func deleteOnFullDisk(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			r = r.WithContext(db.Freeing(r.Context()))
		}
		h.ServeHTTP(w, r)
	})
}

// assembleHTTP creates the public HTTP server, and the one for metrics if it is configured. Without the role api the
// public one serves health checks only. The handlers are nested from the outside in: closing connections at shutdown,
// the disk reserve, the path of base_url, connection limits, ACME challenges, MCP, the web pages, the API.
func (a *App) assembleHTTP(catalogue plan.Catalogue) error {
	a.allMail = a.newAllMail()
	cfg := a.cfg
	a.local = local.New(a.baseURL, "dev.hosts", cfg.Dev.Hosts)
	kit := a.kitConfig()
	if a.runs(roleAPI) {
		var err error
		if kit.NotFound, err = webui.NotFound(cfg.BasePath(), a.isDevBrowser); err != nil {
			return err
		}
	}
	api := httpapi.New(httpapi.Parts{
		HTTP: kit, Domains: a.domains, Mailboxes: a.mailboxes, Messages: a.messages, AllMail: a.allMail, Checks: a.checks, Follow: a.follow, Guests: a.guests, Accounts: a.accounts,
		Keys: a.keys, Filters: a.filters, Projects: a.projects, ProjectsOff: !a.hasProjects(), MailpitURL: a.mailpitURL, Webhooks: a.webhooks.Service, Wallet: a.billing.wallet, Bankpay: a.billing.bankpay, BankGate: bankGate(cfg.Billing.Bankpay),
		Registry: a.registry, Audit: audit.New(a.db), Blocks: a.blocks, Overview: a.overview,
		Plans: catalogue, Content: content.New(a.db, a.clock), Subscriptions: a.subscriptions,
		Injector: a.inbound, Sink: a.inbound, Ingress: a.ingress, Deliveries: a.deliveries, Faults: a.faults, Transcripts: a.transcripts, Diagnoses: diagnosis.New(a.clock, a.mailboxes, a.messages, a.deliveries), Release: a.newRelease(),
		InjectOff: cfg.Inject == "off", MessageMax: int64(cfg.SMTP.MaxSize),
		Access: a.access(), StaffTwoFactor: cfg.Access.StaffTwoFactor == "required", GuestsOff: cfg.Access.Guests == "off", Ready: a.ready, Stopping: a.stopping.Load, ProbesOnly: !a.runs(roleAPI), SessionMax: catalogue.Guest().Entitlements.MailboxesMax,
		LocalKey: a.isDevKey, LocalAccount: a.localAccount(), OIDC: a.oidc,
	})
	pages := api
	if a.runs(roleAPI) {
		var err error
		if pages, err = webui.Handler(cfg.BasePath(), api, a.isDevBrowser); err != nil {
			return err
		}
		pages = mcp.NewHandler(mcp.HandlerOptions{
			API: deleteOnFullDisk(api), Memory: a.memory, Owner: func(r *http.Request) string { return httpkit.Identity(r, cfg.HTTP.TrustedProxies) },
			Local: a.local, Clock: a.clock, BaseURL: a.baseURL, Version: Version, CheckDev: a.checkLocal(),
		}).Mount(pages)
	}
	a.web = a.newHTTPServer(a.closeWhenStopping(deleteOnFullDisk(httpkit.Below(cfg.BasePath(), limitConnections(api, a.secure.challenges(pages))))))
	a.web.ConnContext = connlimit.ConnContext
	a.useTLS(a.web)
	if a.redirectListen != nil {
		a.redirects = a.newHTTPServer(a.redirect())
	}
	if err := a.assembleMailpit(api); err != nil {
		return err
	}
	a.assembleMailTM()
	if cfg.Metrics.Addr != "" {
		a.countState()
		a.admin = a.newHTTPServer(guardMetrics(a.metrics.handler(), a.local.With("metrics.hosts", cfg.Metrics.Hosts)))
		a.admin.WriteTimeout = 0 // a profile takes as long as the request says
	}
	return nil
}

// kitConfig returns what every HTTP API of the process shares.
func (a *App) kitConfig() httpkit.Config {
	cfg := a.cfg
	return httpkit.Config{
		Clock: a.clock, Logger: a.log, Limiter: a.limiter, Gauge: a.cluster.gauge, Memory: a.memory,
		Observe: a.metrics.observeCall, Unavailable: db.Unavailable,
		BaseURL: a.baseURL, Version: Version, TrustedProxies: cfg.HTTP.TrustedProxies,
		BodyMax: int64(cfg.HTTP.BodyMax), LargeBodyMax: int64(cfg.HTTP.LargeBodyMax), WriteTimeout: cfg.HTTP.WriteTimeout,
		CheckLocal: a.checkLocal(), CheckOwn: a.checkOwn(), WaitMax: cfg.API.WaitMax, PageDefault: cfg.API.PageDefault, PageMax: cfg.API.PageMax, LongPolls: cfg.Limits.LongPolls, Connections: cfg.Limits.HTTPConnections,
		Limits: map[ratelimit.Name]ratelimit.Limit{
			ratelimit.MailboxCreate: cfg.Limits.MailboxCreate, ratelimit.SessionStart: cfg.Limits.Session, ratelimit.Reads: cfg.Limits.Reads, ratelimit.Inject: cfg.Limits.Inject,
			ratelimit.SignIn: cfg.Limits.SignIn, ratelimit.SignInAccount: cfg.Limits.SignInAccount, ratelimit.SignInAddress: cfg.Limits.SignInAddress,
			ratelimit.Register: cfg.Limits.Register, ratelimit.Release: cfg.Limits.Release, ratelimit.Other: cfg.Limits.Other,
		},
	}
}

// newHTTPServer returns a server with the time-outs of the configuration. The errors that net/http logs, such as failed
// handshakes, are caused by clients, so they are logged at level debug only.
func (a *App) newHTTPServer(h http.Handler) *http.Server {
	cfg := a.cfg.HTTP
	return &http.Server{
		Handler: h, ReadHeaderTimeout: cfg.ReadHeaderTimeout, ReadTimeout: cfg.ReadTimeout, WriteTimeout: cfg.WriteTimeout,
		IdleTimeout: cfg.IdleTimeout, MaxHeaderBytes: int(cfg.HeaderMax), ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
}

// effectiveBaseURL returns the URL at which clients reach the service, with the port in use, which differs from the configured
// one if that is 0.
func (a *App) effectiveBaseURL() string {
	_, port, _ := net.SplitHostPort(a.webListener.Addr().String())
	return a.cfg.URL(port)
}

// limitConnections passes requests on connections above the connection limits directly to api, which serves health checks
// and refuses the rest; see package connlimit.
func limitConnections(api, all http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if connlimit.ExceededLimit(r.Context()) != connlimit.WithinLimits {
			api.ServeHTTP(w, r)
			return
		}
		all.ServeHTTP(w, r)
	})
}
