package app

import (
	"math"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
)

// newAccounts assembles accounts; each of their secrets is derived from the master secret for its purpose alone.
func newAccounts(d *db.DB, c clock.Clock, cfg AccountConfig, master []byte) (*account.Service, error) {
	seal, err := token.Derive(master, "two-factor seal")
	if err != nil {
		return nil, err
	}
	recovery, err := token.Derive(master, "recovery code")
	if err != nil {
		return nil, err
	}
	return account.New(d, c, account.Policy{
		TokenTTL: cfg.TokenTTL, TOTPPending: cfg.TOTPPending, RecoveryCodes: cfg.RecoveryCodes, Password: cfg.Password.cost(),
	}, account.Secrets{Seal: seal, Recovery: recovery})
}

// cost is what one password hash costs.
func (p PasswordConfig) cost() account.Cost {
	const kib = 1 << 10
	return account.Cost{
		Memory: uint32(min(int64(p.Memory)/kib, math.MaxUint32)), Passes: uint32(p.Passes), Threads: uint8(p.Threads),
	}
}

// allowMessage holds the messages of a sender's address against the limit (decisions §5).
func allowMessage(l *ratelimit.Limiter, limit ratelimit.Limit) func(netip.Addr) (time.Duration, bool) {
	return func(addr netip.Addr) (time.Duration, bool) {
		d := l.Take(ratelimit.SMTPMessages, ratelimit.AddrIdentity(addr), limit, 1)
		return d.RetryAfter, d.OK
	}
}
