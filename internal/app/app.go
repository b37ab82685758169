// Package app puts the parts of the service together and is the only one that knows them all. It decides nothing that a
// domain could decide.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/connlimit"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/reserve"
	"github.com/gonebox/gonebox/internal/resolver"
	"github.com/gonebox/gonebox/internal/smtpd"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
	"github.com/gonebox/gonebox/internal/webui"
)

// Version is the program's version; a release sets it when it is built.
var Version = "dev"

// Options are what a test changes of an App. The zero value is right for the service.
type Options struct {
	Clock    clock.Clock              // nil: the machine's
	Logger   *slog.Logger             // nil: made from the configuration
	Resolver mailauth.Resolver        // nil: made from the configuration
	Commit   func(func() error) error // see db.Options
}

// App is the assembled service.
type App struct {
	cfg           *config.Config
	clock         clock.Clock
	log           *slog.Logger
	db            *db.DB
	reserve       *reserve.Reserve // nil on PostgreSQL
	wake          *wake.Hub
	domains       *domain.Service
	boxes         *mailbox.Service
	mail          *message.Service
	guests        *guest.Service
	users         *account.Service
	keys          *apikey.Service
	filters       *filter.Service
	hooks         *hooks
	billing       *billing
	subscriptions *subscription.Service
	inbound       *inbound.Service
	smtp          *smtpd.Server
	web           *http.Server
	admin         *http.Server // nil: no metrics
	acme          *smtpd.ACME  // nil: no certificate is fetched
	metrics       *metrics
	memory        *budget.Budget
	baseURL       string // how clients reach the service

	rawStore     rawStore
	limiter      *ratelimit.Limiter
	cluster      cluster
	smtpListener net.Listener // nil: another process takes mail
	webListener  net.Listener
	adminListen  net.Listener  // nil: no metrics
	common       *job.Schedule // what is done once for all processes, where this one has the role jobs
	own          *job.Schedule // what each process does for itself
	stopping     atomic.Bool
}

// New opens the storage, brings it up to date and assembles the service. It listens already, so that a port that is
// taken is told at once; Run answers. Close releases everything if Run is not called.
func New(ctx context.Context, cfg *config.Config, o Options) (_ *App, err error) {
	a := &App{cfg: cfg, clock: o.Clock, log: o.Logger, wake: wake.New(), metrics: newMetrics(), memory: budget.New(memoryBudget(cfg))}
	a.metrics.countMemory(a.memory)
	if a.clock == nil {
		a.clock = clock.System()
	}
	if a.log == nil {
		a.log = newLogger(cfg.Log, os.Stderr)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.demandSecret(); err != nil {
		return nil, err
	}
	for _, w := range cfg.Warnings() {
		a.log.Warn("a setting opens the service to everyone", "key", w.Key, "value", w.Value, "advice", w.Advice)
	}
	warm := a.warm()
	if err := a.listen(ctx); err != nil {
		return nil, err
	}
	ctx = db.Freeing(ctx) // the little that a start writes may not keep a service on a full disk from starting
	if err := a.open(ctx, o); err != nil {
		return nil, err
	}
	master, err := token.LoadMaster(cfg.DataDir, string(cfg.Secrets.Key))
	if err != nil {
		return nil, err
	}
	if err := a.sameSecret(ctx, master); err != nil {
		return nil, err
	}
	if err := a.assemble(master, o); err != nil {
		return nil, err
	}
	if err := a.domains.Reload(ctx); err != nil {
		return nil, err
	}
	a.tellOfBilling(ctx)
	<-warm
	return a, nil
}

// warm builds, beside the rest of the start, what the first mail would wait for otherwise. The channel is closed when it is
// done. A process that neither takes mail nor answers calls does not need it.
func (a *App) warm() <-chan struct{} {
	done := make(chan struct{})
	if !a.runs(roleSMTP) && !a.runs(roleAPI) {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		otp.Warm()
	}()
	return done
}

// assemble plugs the parts together.
func (a *App) assemble(master []byte, o Options) error {
	cfg := a.cfg
	signing, err := token.Derive(master, "mailbox token")
	if err != nil {
		return err
	}
	holding, err := token.Derive(master, "address hold")
	if err != nil {
		return err
	}
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: signing})
	if err != nil {
		return err
	}
	catalogue, err := cfg.Catalogue()
	if err != nil {
		return err
	}
	a.billing = newBilling(a.db, a.clock, a.log, cfg, func() { a.wake.Wake(bankTopic + ":") })
	a.subscriptions = subscription.New(a.db, a.clock, catalogue, a.billing.wallet, a.billing.answers)
	entitled := entitlements{catalogue, a.subscriptions}
	names := a.newNames(o)
	a.domains = domain.New(a.db, a.clock, names, entitled, domain.Policy{
		Configured: cfg.Domains, Hostname: cfg.SMTP.Hostname, RecheckEvery: cfg.Domain.RecheckEvery, SuspendAfter: cfg.Domain.SuspendAfter,
	})
	a.boxes = mailbox.New(a.db, a.clock, keys, a.wake, entitled, a.domains, mailbox.Policy{
		Cooldown: cfg.Mailbox.AddressCooldown, MaxMessages: cfg.Mailbox.MaxMessages, Reserved: cfg.Mailbox.Reserved,
	}, holding[:])
	a.mail = message.New(a.db, a.clock, a.wake, a.boxes, a.rawStore, message.Policy{
		PreviewLength: cfg.Message.PreviewLength, InlineImageMax: int64(cfg.Message.InlineImageMax),
	})
	a.guests = guest.New(a.db, a.clock, a.boxes, cfg.Session.Idle)
	a.limiter = a.newLimiter()
	if a.users, err = newAccounts(a.db, a.clock, a.limiter, cfg.Account, master); err != nil {
		return err
	}
	a.keys = apikey.New(a.db, a.clock, a.wake, entitled)
	a.filters = filter.New(a.db, a.clock, entitled, a.domains)
	if a.hooks, err = a.newHooks(master, entitled, names); err != nil {
		return err
	}
	outbox := a.hooks.outbox(cfg.Webhooks.PendingMax)
	a.domains.PublishTo(outbox)
	a.boxes.PublishTo(outbox)
	a.boxes.ObserveBatches(a.metrics.batch)
	a.joinCluster()
	a.inbound = a.newInbound(names, outbox)
	a.baseURL = a.reachedAt()
	a.schedule()
	if err := a.assembleSMTP(); err != nil {
		return err
	}
	return a.assembleHTTP(catalogue)
}

// newNames is the DNS of the whole service.
func (a *App) newNames(o Options) mailauth.Resolver {
	if o.Resolver != nil {
		return o.Resolver
	}
	return resolver.New(resolver.Config{Addr: a.cfg.DNS.Resolver, Clock: a.clock, Timeout: a.cfg.DNS.Timeout})
}

func (a *App) newInbound(names mailauth.Resolver, outbox inbound.Outbox) *inbound.Service {
	return inbound.New(inbound.Parts{
		DB: a.db, Clock: a.clock, Wake: a.wake, Domains: a.domains, Mailboxes: a.boxes, Messages: a.mail, RawMessages: a.rawStore, Filters: a.filters, Outbox: outbox,
		Authenticator: mailauth.New(names, a.cfg.SMTP.Hostname, a.cfg.DNS.MailAuthBudget),
		Logger:        a.log, Hostname: a.cfg.SMTP.Hostname, AttachmentMax: int64(a.cfg.Message.AttachmentMax), SetMax: a.cfg.SMTP.SetMax,
		ObserveSet: func(mails int) { a.metrics.sets.Observe(float64(mails)) },
	})
}

func (a *App) assembleSMTP() error {
	cfg := a.cfg
	c := smtpd.Config{
		Hostname: cfg.SMTP.Hostname, MaxSize: int64(cfg.SMTP.MaxSize), MaxRecipients: cfg.SMTP.MaxRecipients,
		MaxConnections: cfg.Limits.SMTPConnections, Clock: a.clock, Logger: a.log, Metrics: a.metrics.smtp(),
		AllowMessage: allowMessage(a.limiter, cfg.Limits.SMTPMessages), RefusedRecipients: cfg.Limits.SMTPRefused, TrustedProxies: cfg.SMTP.TrustedProxies,
		MaxCommands: cfg.SMTP.MaxCommands, MaxErrors: cfg.SMTP.MaxErrors, Memory: a.memory,
		Timeouts: smtpd.Timeouts{
			Command: cfg.SMTP.CommandTimeout, Data: cfg.SMTP.DataTimeout, Write: cfg.SMTP.WriteTimeout, Session: cfg.SMTP.SessionTimeout,
			Memory: cfg.SMTP.MemoryTimeout,
		},
	}
	if cfg.SMTP.TLS.ACME {
		a.acme = smtpd.NewACME(cfg.SMTP.Hostname, filepath.Join(cfg.DataDir, "acme"), cfg.SMTP.TLS.ACMEDirectory)
		c.TLS = a.acme.Config()
	}
	if cfg.SMTP.TLS.Cert != "" {
		tls, err := smtpd.CertificateFiles(cfg.SMTP.TLS.Cert, cfg.SMTP.TLS.Key, a.clock, a.log)
		if err != nil {
			return fmt.Errorf("smtp.tls: %w", err)
		}
		c.TLS = tls
	}
	a.smtp = smtpd.New(c, a.inbound)
	return nil
}

func (a *App) assembleHTTP(catalogue plan.Catalogue) error {
	cfg := a.cfg
	api := httpapi.New(httpapi.Parts{
		HTTP: a.kitConfig(), Domains: a.domains, Mailboxes: a.boxes, Messages: a.mail, Guests: a.guests, Accounts: a.users,
		Keys: a.keys, Filters: a.filters, Webhooks: a.hooks.Service, Wallet: a.billing.wallet, Bankpay: a.billing.bankpay, BankGate: bankGate(cfg.Billing.Bankpay),
		Plans: catalogue, Content: content.New(a.db, a.clock), Subscriptions: a.subscriptions,
		Ready: a.ready, Stopping: a.stopping.Load, ProbesOnly: !a.runs(roleAPI), SessionMax: catalogue.Guest().Entitlements.MailboxesMax,
	})
	pages := api
	if a.runs(roleAPI) {
		var err error
		if pages, err = webui.Handler(api); err != nil {
			return err
		}
	}
	if a.acme != nil {
		pages = a.acme.Challenges(pages)
	}
	a.web = a.newHTTPServer(a.farewell(deleting(limited(api, pages))))
	a.web.ConnContext = connlimit.Context
	if cfg.Metrics.Addr != "" {
		a.admin = a.newHTTPServer(a.metrics.handler())
		a.admin.WriteTimeout = 0 // a profile takes as long as it is asked to
	}
	return nil
}

// kitConfig is what every HTTP API of the process shares.
func (a *App) kitConfig() httpkit.Config {
	cfg := a.cfg
	return httpkit.Config{
		Clock: a.clock, Logger: a.log, Limiter: a.limiter, Gauge: a.cluster.gauge, Memory: a.memory,
		Observe: a.metrics.observe, Unavailable: db.Unavailable,
		BaseURL: a.baseURL, Version: Version, TrustedProxies: cfg.HTTP.TrustedProxies,
		BodyMax: int64(cfg.HTTP.BodyMax), LargeBodyMax: int64(cfg.HTTP.LargeBodyMax), WriteTimeout: cfg.HTTP.WriteTimeout,
		WaitMax: cfg.API.WaitMax, PageDefault: cfg.API.PageDefault, LongPolls: cfg.Limits.LongPolls, Connections: cfg.Limits.HTTPConnections,
		Limits: map[ratelimit.Name]ratelimit.Limit{
			ratelimit.MailboxCreate: cfg.Limits.MailboxCreate, ratelimit.SessionStart: cfg.Limits.Session, ratelimit.Reads: cfg.Limits.Reads,
			ratelimit.SignIn: cfg.Limits.SignIn, ratelimit.SignInAccount: cfg.Limits.SignInAccount, ratelimit.SignInAddress: cfg.Limits.SignInAddress,
			ratelimit.Register: cfg.Limits.Register, ratelimit.Other: cfg.Limits.Other,
		},
	}
}

func (a *App) newHTTPServer(h http.Handler) *http.Server {
	cfg := a.cfg.HTTP
	return &http.Server{
		Handler: h, ReadHeaderTimeout: cfg.ReadHeaderTimeout, ReadTimeout: cfg.ReadTimeout, WriteTimeout: cfg.WriteTimeout,
		IdleTimeout: cfg.IdleTimeout, MaxHeaderBytes: int(cfg.HeaderMax), ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
}

// reachedAt is base_url, but for a service that nobody told its address: then it is where this machine reaches it.
func (a *App) reachedAt() string {
	if a.cfg.BaseURL != config.Default().BaseURL {
		return a.cfg.BaseURL
	}
	_, port, _ := net.SplitHostPort(a.webListener.Addr().String())
	return "http://localhost:" + port
}
