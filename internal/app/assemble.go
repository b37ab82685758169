package app

import (
	"math"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resolver"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/token"
)

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

// newAccounts assembles accounts; each of their secrets is derived from the master secret for its purpose alone.
func newAccounts(d *db.DB, c clock.Clock, l *ratelimit.Limiter, cfg config.Account, master []byte) (*account.Service, error) {
	seal, err := token.Derive(master, "two-factor seal")
	if err != nil {
		return nil, err
	}
	recovery, err := token.Derive(master, "recovery code")
	if err != nil {
		return nil, err
	}
	return account.New(d, c, l, account.Policy{
		TokenTTL: cfg.TokenTTL, TOTPPending: cfg.TOTPPending, RecoveryCodes: cfg.RecoveryCodes, Password: hashCost(cfg.Password),
	}, account.Secrets{Seal: seal, Recovery: recovery})
}

// cost is what one password hash costs.
func hashCost(p config.Password) account.Cost {
	const kib = 1 << 10
	return account.Cost{
		Memory: uint32(min(int64(p.Memory)/kib, math.MaxUint32)), Passes: uint32(p.Passes), Threads: uint8(p.Threads),
	}
}
