package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// What profile: dev permits is for local requests alone (package local), and over SMTP for clients on loopback and private
// networks; for all others the service is as strict as it is otherwise (docs/spec/dev.md).

const (
	devWarning = "DEVELOPMENT PROFILE: clients on this machine and in private networks have no limits and need no password; never use it on a server"
	devPlan    = "pro"
	devKeyName = "dev.key"
)

// unlimited returns the function that reports to smtpd and the sink which clients are exempt from rate limits. It is nil, so
// that none are exempt, unless the profile is dev.
func (a *App) unlimited() func(netip.Addr) bool {
	if a.cfg.IsDev() {
		return local.IsAddr
	}
	return nil
}

// checkLocal returns the function that decides which requests have the privileges of profile: dev. It is nil, so that none
// have, unless the profile is dev.
func (a *App) checkLocal() func(*http.Request) error {
	if a.cfg.IsDev() {
		return a.local.Check
	}
	return nil
}

// checkOwn is checkLocal for requests that come from no web page but one of the same host and port.
func (a *App) checkOwn() func(*http.Request) error {
	if a.cfg.IsDev() {
		return a.local.CheckOwn
	}
	return nil
}

// localAccount returns the function that returns the account to which the inbox page signs in without a password. It is nil unless
// the profile is dev.
func (a *App) localAccount() func(context.Context) (*account.Account, error) {
	if !a.cfg.IsDev() {
		return nil
	}
	return func(ctx context.Context) (*account.Account, error) { return a.registry.Find(ctx, config.DevAccount) }
}

// isDevBrowser reports whether the page that a request asks for offers the inbox of profile: dev.
func (a *App) isDevBrowser(r *http.Request) bool {
	return a.cfg.IsDev() && a.local.CheckClient(r) == nil && a.local.CheckHost(r) == nil
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
	for _, l := range []net.Listener{a.webListener, a.redirectListen, a.smtpListener, a.smtpsListener, a.adminListen, a.mailpitListen, a.mailtmListen} {
		if l == nil {
			continue
		}
		if at, err := netip.ParseAddrPort(l.Addr().String()); err == nil && !at.Addr().IsUnspecified() && !local.IsAddr(at.Addr()) {
			return fmt.Errorf("profile: dev must not listen on the public address %s; leave out the host, or use 127.0.0.1", at)
		}
	}
	return nil
}

// setUpDev creates the account and the developer key of profile dev if they are missing. A key that is not configured
// is derived from the data key, so that it is the same after a restart. Another key of that name, from before the
// configuration changed, is revoked, and so are all of that name where the profile is another one now: what many know on a machine
// of developers must not open a server. For the same reason the sign-in link of the last start ends there.
func (a *App) setUpDev(ctx context.Context, dataKey []byte) error {
	if !a.cfg.IsDev() {
		owner, err := a.registry.LookUp(ctx, config.DevAccount)
		if err != nil || owner == nil {
			return err
		}
		_, err = a.revokeDevKeys(ctx, owner.ID, "")
		return errors.Join(err, a.accounts.EndStartSession(db.Freeing(ctx), owner.ID))
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
	if owner.Disabled {
		a.log.Warn("the account of profile dev is disabled: its key and sign-in link do not work", "account", owner.Email)
	} else if err := a.storeDevKey(ctx, owner.ID, key); err != nil {
		return fmt.Errorf("store %s of %s: %w", devKeyName, config.DevAccount, err)
	}
	a.devKey, a.devOwner = key, owner.ID
	a.devKeyPrefix, _, err = token.ParseDeveloper(key)
	return err
}

// keepDevKey stores the developer key again if the credentials of its account were ended: a new password must not end a key that the
// configuration names, or that programs have from the start's output.
func (a *App) keepDevKey(ctx context.Context, ended []id.Account) error {
	if a.devKey == "" || !slices.Contains(ended, a.devOwner) {
		return nil
	}
	owner, err := a.registry.LookUp(ctx, string(a.devOwner))
	if err != nil || owner == nil || owner.Disabled {
		return err
	}
	return a.storeDevKey(ctx, a.devOwner, a.devKey)
}

// signInLink returns a link to the page that signs a browser in to the account of profile dev, with a new user token in its fragment,
// which browsers do not send. It is "" under another profile, and while the account is disabled. The service starts without a link if
// the token cannot be stored, as on a full disk.
func (a *App) signInLink(ctx context.Context) string {
	if a.devKey == "" || !a.runs(roleAPI) {
		return ""
	}
	owner, err := a.registry.Find(ctx, string(a.devOwner))
	if err == nil && owner.Disabled {
		return ""
	}
	credential := ""
	if err == nil {
		credential, err = a.accounts.OpenStartSession(ctx, owner)
	}
	if err != nil {
		a.log.Warn("starting without a sign-in link", "account", config.DevAccount, "error", err)
		return ""
	}
	return a.baseURL + "/sign-in#token=" + credential
}

// devAccount returns the account of profile dev. It is locked, so that only its key can be used until gonebox user
// reset-password sets a password. Hashing a random password instead would take a quarter of the processor time of the start.
func (a *App) devAccount(ctx context.Context) (*account.Account, error) {
	accounts := a.registry
	owner, err := accounts.LookUp(ctx, config.DevAccount)
	if err != nil || owner != nil {
		return owner, err
	}
	_, owner, err = accounts.Add(ctx, account.Provision{Email: config.DevAccount, Plan: devPlan, Locked: true})
	if problem.Has(err, problem.AccountEmailTaken) { // by another process that starts
		owner, err = accounts.Find(ctx, config.DevAccount)
	}
	return owner, err
}

// ownerID returns the identifier of an account, "" for nil.
func ownerID(owner *account.Account) id.Account {
	if owner == nil {
		return ""
	}
	return owner.ID
}

// storeDevKey stores the developer key unless it exists. The key is valid in local networks only, and while the profile is dev, for
// local requests only (isDevKey).
func (a *App) storeDevKey(ctx context.Context, owner id.Account, credential string) error {
	prefix, _, err := token.ParseDeveloper(credential)
	if err != nil {
		return err
	}
	stored, err := a.revokeDevKeys(ctx, owner, prefix)
	if err != nil {
		return err
	}
	if stored {
		_, err := a.keys.Authorize(ctx, credential)
		return err
	}
	var scopes []string
	for _, s := range apikey.Scopes() {
		scopes = append(scopes, string(s))
	}
	networks := make([]string, 0, len(local.Networks()))
	for _, n := range local.Networks() {
		networks = append(networks, n.String())
	}
	_, _, err = a.keys.Create(ctx, owner, apikey.Params{Name: devKeyName, Scopes: scopes, Networks: networks, Credential: credential})
	if _, again := a.keys.Authorize(ctx, credential); err != nil && again == nil { // another process was faster
		return nil
	}
	return err
}

// revokeDevKeys revokes the keys named devKeyName but the one with a prefix, and reports whether that one is there.
func (a *App) revokeDevKeys(ctx context.Context, owner id.Account, but string) (found bool, err error) {
	const many = 1000 // more keys than any plan allows
	keys, err := a.keys.List(ctx, owner, apikey.Mark{}, many)
	if err != nil {
		return false, err
	}
	for _, k := range keys {
		switch {
		case k.Prefix == but:
			found = true
		case k.Name == devKeyName:
			if err := a.keys.Revoke(ctx, owner, k.Prefix); err != nil {
				return false, err
			}
		}
	}
	return found, nil
}

// isDevKey reports whether a prefix is that of the developer key of profile: dev.
func (a *App) isDevKey(prefix string) bool { return a.cfg.IsDev() && prefix == a.devKeyPrefix }

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
	return &inbound.Sink{Domains: cfg.Domains, Account: owner.find, From: a.unlimited()}
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
