// Package app assembles the service: it creates every part, connects them, runs them and stops them. It is the only package
// that imports all others. Rules of the service belong to the domains, not here.
//
// # Start
//
// New, in this order: check what the configuration alone can show (secret.go, config warnings); take the ports, so that one
// in use is reported before anything is written (listen.go); open the storage and migrate the database (storage.go); load or
// create the master secret (secret.go); create the parts, from the database up to the HTTP and SMTP servers (assemble.go,
// tls.go, http.go, smtp.go, webhooks.go, billing.go, cluster.go); read the public domains. Run then accepts connections and starts
// the background work of the process's roles (run.go, periodic.go); the lexicon of the code extractor is loaded meanwhile.
//
// # Shutdown
//
// When its context ends, Run stops in the reverse order (run.go, shutdown.go): /readyz returns 503 and everything continues
// for shutdown_delay; then the long-polls return, HTTP and SMTP stop accepting and finish what is in progress, the goroutine
// that stores mail ends once no connection can bring any more, the periodic jobs and webhook deliveries end, expired data is
// erased, and the storage is closed. shutdown_grace bounds all of it.
//
// Operator and Move are for the commands: they open the storage without running the service.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/ingress"
	"github.com/gonebox/gonebox/internal/ingress/catchall"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/mailcheck"
	"github.com/gonebox/gonebox/internal/mailpit"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/oidc"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/process"
	"github.com/gonebox/gonebox/internal/project"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/reserve"
	"github.com/gonebox/gonebox/internal/sink"
	"github.com/gonebox/gonebox/internal/smtpd"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/transcript"
	"github.com/gonebox/gonebox/internal/wake"
)

// Version is the version of the program: the linker sets it when a release is built (Makefile). It is constant
// afterwards.
var Version = "dev"

// Options replace parts of an App in tests. The service uses the zero value.
type Options struct {
	Clock    clock.Clock              // nil: the system clock
	Logger   *slog.Logger             // nil: made from the configuration
	Resolver mailauth.Resolver        // nil: made from the configuration
	Commit   func(func() error) error // wraps each commit; see db.Options
	Warm     func() error             // nil: otp.Warm
	SNS      *SNS                     // how Amazon SNS is reached; nil: over the internet
}

// App is the assembled service in one process. New sets the fields; afterwards only stopping, stored and rotation change, and
// Close clears db and rawStore. The parts are safe for concurrent use.
type App struct {
	cfg           *config.Config
	clock         clock.Clock
	log           *slog.Logger
	warm          func() error // loads the lexicon of the code extractor
	db            *db.DB
	reserve       *reserve.Reserve // nil on PostgreSQL
	wake          *wake.Hub
	domains       *domain.Service
	mailboxes     *mailbox.Service
	messages      *message.Service
	checks        *mailcheck.Checker
	sink          *sink.Service
	projects      *project.Service
	lockedOut     *cache.Cache[string, struct{}] // clients that sent too many wrong passwords for projects
	follow        *follow.Service
	allMail       *allmail.Service
	guests        *guest.Service
	accounts      *account.Service
	registry      *account.Registry
	oidc          *oidc.Client // nil: there is no issuer
	blocks        *block.Service
	keys          *apikey.Service
	filters       *filter.Service
	webhooks      *webhooks
	billing       *billing
	subscriptions *subscription.Service
	inbound       *inbound.Service
	once          *once.Store
	ingress       *ingress.Service
	catchalls     []*catchall.Reader
	deliveries    *deliverylog.Service
	outbound      *outbound.Service // nil: there is no relay
	faults        *fault.Service
	transcripts   *transcript.Service
	smtp          *smtpd.Server
	lmtp          *smtpd.Server // nil: lmtp.addr is off
	web           *http.Server
	admin         *http.Server // nil: no metrics
	mailpit       *http.Server // nil: compat.mailpit is off
	mailpitAPI    *mailpit.API // nil: compat.mailpit is off
	mailtm        *http.Server // nil: compat.mailtm is off
	redirects     *http.Server // nil: http.redirect_addr is off
	secure        secure
	metrics       *metrics
	processes     *process.Service
	memory        *budget.Budget
	baseURL       string // the URL at which clients reach the service
	local         *local.Rules
	devKey        string     // the developer key of profile: dev; "": another profile
	devKeyPrefix  string     // identifies devKey
	devOwner      id.Account // its account

	rawStore       rawStore
	limiter        *ratelimit.Limiter
	cluster        cluster
	smtpListener   net.Listener // nil: without the role smtp
	smtpsListener  net.Listener // nil: smtp.tls.addr is off
	lmtpListener   net.Listener // nil: lmtp.addr is off
	webListener    net.Listener
	adminListen    net.Listener  // nil: no metrics
	mailpitListen  net.Listener  // nil: compat.mailpit is off
	mailtmListen   net.Listener  // nil: compat.mailtm is off
	redirectListen net.Listener  // nil: http.redirect_addr is off
	sharedSchedule *job.Schedule // periodic jobs that one process runs for all; see sharedTasks
	localSchedule  *job.Schedule // periodic jobs of every process; see localTasks
	rotation       rotation
	stored         atomic.Int64 // messages that this process has stored; see arrivals
	stopping       atomic.Bool  // set once, when Run begins to shut down
}

// New assembles the service; the package comment has the order. The ports accept connections when it returns, but
// nothing is served until Run is called, so a client that connects early waits instead of being refused. A caller that does
// not call Run must call Close. After an error New has closed everything.
func New(ctx context.Context, cfg *config.Config, o Options) (_ *App, err error) {
	a := &App{cfg: cfg, clock: o.Clock, log: o.Logger, warm: o.Warm, wake: wake.New(), lockedOut: cache.New[string, struct{}](lockedMax), memory: budget.New(memoryBudget(cfg))}
	if a.clock == nil {
		a.clock = clock.System()
	}
	a.processes = newProcesses(a.clock, cfg)
	a.metrics = newMetrics(a.processes.Traffic)
	a.metrics.countMemory(a.memory)
	if a.warm == nil {
		a.warm = otp.Warm
	}
	if a.log == nil {
		a.log = newLogger(cfg.Log, os.Stderr)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.requireSecret(); err != nil {
		return nil, err
	}
	if cfg.IsDev() {
		a.log.Warn(devWarning)
	}
	for _, w := range cfg.Warnings() {
		a.log.Warn("setting opens the service to everyone", "key", w.Key, "value", w.Value, "advice", w.Advice)
	}
	if err := a.listen(ctx); err != nil {
		return nil, err
	}
	ctx = db.Freeing(ctx) // a start writes little, and must succeed on a full disk so that data can be deleted
	if err := a.open(ctx, o); err != nil {
		return nil, err
	}
	masters, err := loadMasters(cfg)
	if err != nil {
		return nil, err
	}
	dataKey, err := a.openDataKey(ctx, masters)
	if err != nil {
		return nil, err
	}
	if err := a.assemble(masters, dataKey, o); err != nil {
		return nil, err
	}
	if err := a.domains.Reload(ctx); err != nil {
		return nil, err
	}
	if err := a.setUpDev(ctx, dataKey); err != nil {
		return nil, err
	}
	a.logMissingBankKeys(ctx)
	return a, nil
}

// Close closes the listeners and the storage, the database before the raw messages that its rows refer to. Run calls
// it; calling it again does nothing. It is not safe for concurrent use.
func (a *App) Close() error {
	var errs []error
	for _, l := range []net.Listener{a.webListener, a.smtpListener, a.smtpsListener, a.lmtpListener, a.adminListen, a.mailpitListen, a.mailtmListen, a.redirectListen} {
		if l != nil {
			_ = l.Close() // fails after Run, whose servers have closed it
		}
	}
	if a.webhooks != nil {
		a.webhooks.close()
	}
	if a.oidc != nil {
		a.oidc.Close()
	}
	errs = append(errs, a.cluster.close())
	if a.db != nil {
		errs = append(errs, a.db.Close())
		a.db = nil
	}
	if a.rawStore != nil {
		errs = append(errs, a.rawStore.Close())
		a.rawStore = nil
	}
	return errors.Join(errs...)
}
