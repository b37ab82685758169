package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// What profile: dev permits is for clients on loopback and private networks alone (isLocal); for all others the service is as
// strict as it is otherwise (docs/spec/dev.md).

const (
	devWarning = "DEVELOPMENT PROFILE: clients on this machine and in private networks have no limits and need no password; never use it on a server"
	devPlan    = "pro"
	devKeyName = "dev.key"
)

// isLocal reports whether a client is on loopback or in a private network.
func isLocal(client netip.Addr) bool { return client.IsValid() && !config.IsPublic(client) }

// localNetworks returns the networks of isLocal, for packages that take networks instead of a function.
func localNetworks() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// unlimited returns the function that reports to httpkit and smtpd which clients are exempt from rate limits. It is nil,
// so that none are exempt, unless the profile is dev.
func (a *App) unlimited() func(netip.Addr) bool {
	if a.cfg.IsDev() {
		return isLocal
	}
	return nil
}

// unlessUnlimited returns a function that calls allow for the clients that have limits, and permits and does not count the
// messages of the others.
func unlessUnlimited(
	unlimited func(netip.Addr) bool, allow func(netip.Addr) (time.Duration, bool),
) func(netip.Addr) (time.Duration, bool) {
	return func(client netip.Addr) (time.Duration, bool) {
		if unlimited(client) {
			return 0, true
		}
		return allow(client)
	}
}

// checkDevListeners refuses to start profile dev on a public address. The configuration is checked for that too, but
// may have a host name, whose address is known only now.
func (a *App) checkDevListeners() error {
	if !a.cfg.IsDev() {
		return nil
	}
	for _, l := range []net.Listener{a.webListener, a.smtpListener, a.adminListen, a.mailpitListen, a.mailtmListen} {
		if l == nil {
			continue
		}
		if at, err := netip.ParseAddrPort(l.Addr().String()); err == nil && !at.Addr().IsUnspecified() && config.IsPublic(at.Addr()) {
			return fmt.Errorf("profile: dev must not listen on the public address %s; leave out the host, or use 127.0.0.1", at)
		}
	}
	return nil
}

// setUpDev creates the account and the developer key of profile dev if they are missing. A key that is not configured
// is derived from the data key, so that it is the same after a restart. Another key of that name, from before the
// configuration changed, is revoked.
func (a *App) setUpDev(ctx context.Context, dataKey []byte) error {
	if !a.cfg.IsDev() {
		return nil
	}
	owner, err := a.devAccount(ctx)
	if err != nil {
		return fmt.Errorf("set up %s: %w", config.DevAccount, err)
	}
	key := string(a.cfg.Dev.Key)
	if key == "" {
		seed, err := token.Derive(dataKey, "developer key of profile dev")
		if err != nil {
			return err
		}
		key = token.DeveloperFrom(seed)
	}
	if err := a.storeDevKey(ctx, owner, key); err != nil {
		return fmt.Errorf("store %s of %s: %w", devKeyName, config.DevAccount, err)
	}
	a.devKey = key
	return nil
}

// devAccount returns the account of profile dev. Its password is random, so that only its key can be used until
// gonebox user reset-password sets another.
func (a *App) devAccount(ctx context.Context) (id.Account, error) {
	accounts := a.registry
	owner, err := accounts.LookUp(ctx, config.DevAccount)
	if err != nil || owner != nil {
		return ownerID(owner), err
	}
	_, owner, err = accounts.Add(ctx, account.Provision{Email: config.DevAccount, Plan: devPlan})
	if problem.Has(err, problem.AccountEmailTaken) { // by another process that starts
		owner, err = accounts.Find(ctx, config.DevAccount)
	}
	return ownerID(owner), err
}

// ownerID returns the identifier of an account, "" for nil.
func ownerID(owner *account.Account) id.Account {
	if owner == nil {
		return ""
	}
	return owner.ID
}

// storeDevKey stores the developer key unless it exists. The key is valid in the networks of isLocal only.
func (a *App) storeDevKey(ctx context.Context, owner id.Account, credential string) error {
	prefix, _, err := token.ParseDeveloper(credential)
	if err != nil {
		return err
	}
	const many = 1000 // more keys than any plan allows
	keys, err := a.keys.List(ctx, owner, apikey.Mark{}, many)
	if err != nil {
		return err
	}
	stored := false
	for _, k := range keys {
		switch {
		case k.Prefix == prefix:
			stored = true
		case k.Name == devKeyName:
			if err := a.keys.Revoke(ctx, owner, k.Prefix); err != nil {
				return err
			}
		}
	}
	if stored {
		_, err := a.keys.Authorize(ctx, credential)
		return err
	}
	var scopes []string
	for _, s := range apikey.Scopes() {
		scopes = append(scopes, string(s))
	}
	networks := make([]string, 0, len(localNetworks()))
	for _, n := range localNetworks() {
		networks = append(networks, n.String())
	}
	_, _, err = a.keys.Create(ctx, owner, apikey.Params{Name: devKeyName, Scopes: scopes, Networks: networks, Credential: credential})
	if _, again := a.keys.Authorize(ctx, credential); err != nil && again == nil { // another process was faster
		return nil
	}
	return err
}

// sinkAccountTTL is how long the result of looking up the account of the sink is cached, also if there is none. A command
// that creates or disables the account takes effect within this time.
const sinkAccountTTL = 2 * time.Second

// sinkAccount looks up the account of the sink for each recipient, and caches the result for sinkAccountTTL. The mutex
// guards id and until.
type sinkAccount struct {
	app      *App
	accounts *account.Registry

	mu    sync.Mutex
	id    id.Account
	until time.Time
}

// newSink returns the sink of the configuration (docs/spec/dev.md#the-sink), or nil if it is off.
func (a *App) newSink() *inbound.Sink {
	cfg := a.cfg.SMTP.Sink
	if len(cfg.Domains) == 0 {
		return nil
	}
	owner := &sinkAccount{app: a, accounts: a.registry}
	return &inbound.Sink{Domains: cfg.Domains, Account: owner.find, Mails: a.sink, From: a.unlimited()}
}

// find returns the account of the sink. Error: server.unavailable while there is none, or it is disabled: the mail is deferred,
// and delivered once gonebox user add has created the account.
func (s *sinkAccount) find(ctx context.Context) (id.Account, error) {
	now := s.app.clock.Now()
	known, fresh := s.recall(now)
	if !fresh {
		owner, err := s.accounts.LookUp(ctx, s.app.cfg.SMTP.Sink.Account)
		if err != nil {
			return "", err
		}
		if known = ownerID(owner); owner != nil && owner.Disabled {
			known = ""
		}
		s.remember(known, now)
	}
	if known == "" {
		return "", problem.New(problem.ServerUnavailable)
	}
	return known, nil
}

// recall returns the remembered account; fresh is false if it must be looked up.
func (s *sinkAccount) recall(now time.Time) (owner id.Account, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, now.Before(s.until)
}

// remember stores the result of a look-up, and warns if there is no account.
func (s *sinkAccount) remember(owner id.Account, now time.Time) {
	if owner == "" {
		s.app.log.Warn("mail to the sink is deferred: the account does not exist or is disabled", "smtp.sink.account", s.app.cfg.SMTP.Sink.Account)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.until = owner, now.Add(sinkAccountTTL)
}
