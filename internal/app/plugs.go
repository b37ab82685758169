package app

import (
	"math"
	"net/netip"
	"os"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
)

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

// databaseWaiting is how many calls may wait for PostgreSQL at once, by the memory that they keep meanwhile.
func databaseWaiting(cfg *config.Config) int {
	const (
		each  = 64 << 10 // a request with its connection and its goroutine
		least = 1000
	)
	return max(least, int(memoryBudget(cfg)/each))
}

// memoryBudget is memory.budget in octets, and by default a part of the memory that the process can have.
func memoryBudget(cfg *config.Config) int64 {
	if cfg.Memory.Budget > 0 {
		return int64(cfg.Memory.Budget)
	}
	return budget.DefaultTotal(systemMemory())
}

func systemMemory() int64 { return budget.SystemMemory(os.DirFS("/")) }

// allowMessage holds the messages of a sender's address against the limit (decisions §5).
func allowMessage(l *ratelimit.Limiter, limit ratelimit.Limit) func(netip.Addr) (time.Duration, bool) {
	return func(addr netip.Addr) (time.Duration, bool) {
		d := l.Take(ratelimit.SMTPMessages, ratelimit.AddrIdentity(addr), limit, 1)
		return d.RetryAfter, d.OK
	}
}
